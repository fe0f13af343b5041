#include "solvers/flow/boundary/conditions.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/error.hpp"
#include "solvers/flow/boundary/invariants.hpp"

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

FlowOf<double> plain(const FlowState& state) { return {state.rho, state.u, state.p}; }
/// With the turbulence of another state.
FlowState with(const FlowOf<double>& flow, FlowState state) {
    state.rho = flow.rho, state.u = flow.u, state.p = flow.p;
    return state;
}

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

Real3 HoverFlow::at(const Real3& x) const { return hover_velocity(*this, x); }

FlowState far_field_state(double gamma, const FlowState& inside, const FlowState& outside, const Real3& n) {
    return with(far_field(gamma, plain(inside), plain(outside), n), inside);
}

FlowState total_inflow_state(double gamma, const FlowState& inside, const Boundary& boundary,
                             const Real3& n) {
    return with(total_inflow(gamma, plain(inside), boundary, n), boundary.state);
}

FlowState pressure_outflow_state(double gamma, const FlowState& inside, double pressure, const Real3& n) {
    return with(pressure_outflow(gamma, plain(inside), pressure, n), inside);
}

}  // namespace strata::flow
