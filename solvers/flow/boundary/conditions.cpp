#include "solvers/flow/boundary/conditions.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/error.hpp"

namespace strata::flow {

namespace {

constexpr std::array<std::pair<std::string_view, Condition>, 11> kNames{
    {{"far-field", Condition::far_field},
     {"supersonic-inflow", Condition::supersonic_inflow},
     {"supersonic-outflow", Condition::supersonic_outflow},
     {"total-inflow", Condition::total_inflow},
     {"pressure-outflow", Condition::pressure_outflow},
     {"mass-outflow", Condition::mass_outflow},
     {"symmetry", Condition::symmetry},
     {"axis", Condition::axis},
     {"slip-wall", Condition::slip_wall},
     {"overset", Condition::overset},
     {"wall", Condition::wall}}};

}  // namespace

Condition condition_of(std::string_view name) {
    std::string all;
    for (const auto& [known, condition] : kNames) {
        if (known == name) return condition;
        all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", known);
    }
    throw Error("there is no such boundary condition").given(fmt::format("\"{}\"", name)).allowed(all);
}

std::string_view name_of(Condition condition) {
    for (const auto& [name, known] : kNames)
        if (known == condition) return name;
    return "";
}

}  // namespace strata::flow
