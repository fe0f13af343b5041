#include "solvers/flow/boundary/conditions.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace strata::flow {

Condition condition_of(std::string_view name) {
    std::string all;
    for (const ConditionAbout& each : kConditions) {
        if (each.name == name) return each.condition;
        all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", each.name);
    }
    throw Error("there is no such boundary condition").given(fmt::format("\"{}\"", name)).allowed(all);
}

}  // namespace strata::flow
