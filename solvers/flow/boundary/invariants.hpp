// What open boundaries see, by the invariants through them: for a double and for eight faces at once (V).
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "solvers/flow/boundary/conditions.hpp"
#include "solvers/flow/scheme/gas.hpp"

namespace strata::flow {

/// Density, velocity and pressure of V.
template <class V>
using FlowOf = Primitive<3, V>;

template <class Mask, class V>
FlowOf<V> select(const Mask& yes, const FlowOf<V>& x, const FlowOf<V>& y) {
    FlowOf<V> state;
    state.rho = select(yes, x.rho, y.rho), state.p = select(yes, x.p, y.p);
    for (std::size_t d = 0; d < 3; ++d) state.u[d] = select(yes, x.u[d], y.u[d]);
    return state;
}

/// x^e of positive numbers.
inline double power(double x, double e) { return std::pow(x, e); }
inline Lanes power(const Lanes& x, double e) { return exp(e * log(x)); }
/// x^(2 / (gamma - 1)): of gases of two and three atoms, 7/5 and 5/3, by products.
template <class V>
V sound_to_density(const V& x, double gamma) {
    const double e = 2 / (gamma - 1);
    const V square = x * x;
    if (std::abs(e - 5) < 1e-12) return square * square * x;
    if (std::abs(e - 3) < 1e-12) return square * x;
    return power(x, e);
}

/// The velocity with another component along n.
template <class V>
Vector<3, V> with_normal(Vector<3, V> u, const Vector<3, V>& n, const V& normal) {
    const V change = normal - dot(u, n);
    for (std::size_t d = 0; d < 3; ++d) u[d] = u[d] + change * n[d];
    return u;
}

/// The invariants through a boundary of speed 0 with unit normal n out of the domain: what the face of a far
/// field sees, between inside and outside.
template <class V>
FlowOf<V> far_field(double gamma, const FlowOf<V>& inside, const FlowOf<V>& outside, const Vector<3, V>& n) {
    const V in = dot(inside.u, n), out = dot(outside.u, n);
    const V a_in = sqrt(gamma * inside.p / inside.rho), a_out = sqrt(gamma * outside.p / outside.rho);
    const V leaving = in + (2 / (gamma - 1)) * a_in, entering = out - (2 / (gamma - 1)) * a_out;
    const V u = 0.5 * (leaving + entering), a = (0.25 * (gamma - 1)) * (leaving - entering);
    // Entropy and tangential velocity come with the fluid.
    const auto leaves = u > 0.0;
    FlowOf<V> state = select(leaves, inside, outside);
    // Two flows that part faster than sound leave a vacuum: a < 0, of which roots and odd powers have no
    // meaning.
    state.rho = state.rho * sound_to_density(V(abs(a) / select(leaves, a_in, a_out)), gamma);
    state.p = state.rho * a * a * (1 / gamma);
    state.u = with_normal(state.u, n, u);
    state = select(out <= -a_out, outside, state);
    return select(in >= a_in, inside, state);
}

/// Subsonic inflow by total values: the invariant that leaves the domain, the total temperature (energy) and
/// pressure (entropy) decide speed, density and pressure. Where this would be an outflow the fluid rests at
/// its total values; the speed is at most that of sound.
template <class V>
FlowOf<V> total_inflow(double gamma, const FlowOf<V>& inside, const Boundary& boundary,
                       const Vector<3, V>& n) {
    const Real3& given = boundary.direction;
    const double length = std::sqrt(given[0] * given[0] + given[1] * given[1] + given[2] * given[2]);
    Vector<3, V> along;
    for (std::size_t d = 0; d < 3; ++d) along[d] = length > 0 ? V{} + given[d] / length : -n[d];
    const V zero{}, cosine = -dot(along, n);
    const double k = 2 / (gamma - 1);
    const double total = std::sqrt(boundary.total_temperature);  // speed of sound at rest
    const V leaving = dot(inside.u, n) + k * sqrt(gamma * inside.p / inside.rho);
    // a^2 + V^2 / k = total^2 with V = (k a - leaving) / cosine: a quadratic equation for a.
    const V c2 = cosine * cosine, A = c2 + k, C = leaving * leaving * (1 / k) - c2 * (total * total);
    const V root = sqrt(max(zero, leaving * leaving - A * C));
    const V wanted = (k * (leaving + root) / A - leaving) / cosine;
    const V speed = select(cosine > 0.0, min(max(wanted, zero), zero + total / std::sqrt(1 + 1 / k)), zero);
    FlowOf<V> state;
    const V T = total * total - speed * speed * (1 / k);
    state.p = boundary.total_pressure * power(V(T * (1 / (total * total))), gamma / (gamma - 1));
    state.rho = gamma * state.p / T;
    for (std::size_t d = 0; d < 3; ++d) state.u[d] = speed * along[d];
    return state;
}

/// Subsonic outflow at a pressure: entropy, tangential velocity and the outgoing invariant are those inside.
/// A supersonic outflow is as it is inside.
template <class V>
FlowOf<V> pressure_outflow(double gamma, const FlowOf<V>& inside, double pressure, const Vector<3, V>& n) {
    const V u = dot(inside.u, n), a = sqrt(gamma * inside.p / inside.rho);
    FlowOf<V> state = inside;
    state.p = V{} + pressure;
    state.rho = inside.rho * power(V(pressure / inside.p), 1 / gamma);
    const V b = sqrt(gamma * state.p / state.rho);
    state.u = with_normal(inside.u, n, V(u + (2 / (gamma - 1)) * (a - b)));
    return select(u >= a, inside, state);
}

/// RigidMotion::at().
template <class V>
Vector<3, V> motion_at(const RigidMotion& motion, const Vector<3, V>& x) {
    Vector<3, V> r, u;
    for (std::size_t d = 0; d < 3; ++d) r[d] = x[d] - motion.centre[d];
    for (std::size_t d = 0; d < 3; ++d) {
        const std::size_t e = (d + 1) % 3, f = (d + 2) % 3;
        u[d] = motion.velocity[d] + motion.spin[e] * r[f] - motion.spin[f] * r[e];
    }
    return u;
}

/// The velocity of HoverFlow at x.
template <class V>
Vector<3, V> hover_velocity(const HoverFlow& hover, const Vector<3, V>& x) {
    Vector<3, V> away, u;
    for (std::size_t d = 0; d < 3; ++d) away[d] = x[d] - hover.centre[d];
    const V zero{}, square = dot(away, away);
    const V along = away[0] * hover.axis[0] + away[1] * hover.axis[1] + away[2] * hover.axis[2];
    const V across = sqrt(max(zero, square - along * along));
    const double edge = hover.radius / std::numbers::sqrt2;
    const V sink = (-0.25 * hover.w * hover.radius * hover.radius) / (square * sqrt(square));
    for (std::size_t d = 0; d < 3; ++d)
        u[d] = select(along < 0.0, select(across < edge, zero - 2 * hover.w * hover.axis[d], sink * away[d]),
                      sink * away[d]);
    return u;
}

}  // namespace strata::flow
