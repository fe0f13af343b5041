#include "solvers/flow/boundary/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
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

double dot(const Real3& a, const Real3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// The velocity with another component along n.
Real3 with_normal(const Real3& u, const Real3& n, double normal) {
    const double change = normal - dot(u, n);
    return {u[0] + change * n[0], u[1] + change * n[1], u[2] + change * n[2]};
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

Real3 HoverFlow::at(const Real3& x) const {
    const Real3 away{x[0] - centre[0], x[1] - centre[1], x[2] - centre[2]};
    const double along = dot(away, axis), square = dot(away, away);
    const double across = std::sqrt(std::max(0.0, square - along * along));
    const bool wake = along < 0 && across < radius / std::numbers::sqrt2;
    const double sink = -0.25 * w * radius * radius / (square * std::sqrt(square));
    Real3 u;
    for (std::size_t d = 0; d < 3; ++d) u[d] = wake ? -2 * w * axis[d] : sink * away[d];
    return u;
}

FlowState far_field_state(double gamma, const FlowState& inside, const FlowState& outside, const Real3& n) {
    const double in = dot(inside.u, n), out = dot(outside.u, n);
    const double a_in = std::sqrt(gamma * inside.p / inside.rho);
    const double a_out = std::sqrt(gamma * outside.p / outside.rho);
    if (in >= a_in) return inside;
    if (out <= -a_out) return outside;
    const double leaving = in + 2 * a_in / (gamma - 1), entering = out - 2 * a_out / (gamma - 1);
    const double u = 0.5 * (leaving + entering), a = 0.25 * (gamma - 1) * (leaving - entering);
    // Entropy and tangential velocity come with the fluid.
    const FlowState& from = u > 0 ? inside : outside;
    FlowState state = from;
    const double entropy = from.p / std::pow(from.rho, gamma);
    state.rho = std::pow(a * a / (gamma * entropy), 1 / (gamma - 1));
    state.p = state.rho * a * a / gamma;
    state.u = with_normal(from.u, n, u);
    return state;
}

FlowState total_inflow_state(double gamma, const FlowState& inside, const Boundary& boundary,
                             const Real3& n) {
    Real3 along = boundary.direction;
    double length = std::sqrt(dot(along, along));
    if (length == 0) along = {-n[0], -n[1], -n[2]}, length = 1;
    const double cosine = -dot(along, n) / length;
    const double k = 2 / (gamma - 1);
    const double total = std::sqrt(boundary.total_temperature);  // speed of sound at rest
    const double leaving = dot(inside.u, n) + k * std::sqrt(gamma * inside.p / inside.rho);
    // a^2 + V^2 / k = total^2 with V = (k a - leaving) / cosine: a quadratic equation for a.
    double speed = 0;
    if (cosine > 0) {
        const double c2 = cosine * cosine, A = c2 + k, B = leaving,
                     C = leaving * leaving / k - c2 * total * total;
        const double root = std::sqrt(std::max(0.0, B * B - A * C));
        speed = std::clamp((k * (B + root) / A - leaving) / cosine, 0.0, total / std::sqrt(1 + 1 / k));
    }
    FlowState state;
    const double T = total * total - speed * speed / k;
    state.p = boundary.total_pressure * std::pow(T / (total * total), gamma / (gamma - 1));
    state.rho = gamma * state.p / T;
    for (std::size_t d = 0; d < 3; ++d) state.u[d] = speed * along[d] / length;
    state.nu_tilde = boundary.state.nu_tilde;
    state.k = boundary.state.k, state.omega = boundary.state.omega;
    return state;
}

FlowState pressure_outflow_state(double gamma, const FlowState& inside, double pressure, const Real3& n) {
    const double u = dot(inside.u, n), a = std::sqrt(gamma * inside.p / inside.rho);
    if (u >= a) return inside;
    FlowState state = inside;
    state.p = pressure;
    state.rho = inside.rho * std::pow(pressure / inside.p, 1 / gamma);
    const double b = std::sqrt(gamma * state.p / state.rho);
    state.u = with_normal(inside.u, n, u + 2 / (gamma - 1) * (a - b));
    return state;
}

}  // namespace strata::flow
