// The ideal gas, for doubles and for lanes of them (V).
#pragma once

#include <array>
#include <cstddef>

#include "solvers/flow/scheme/lanes.hpp"
#include "solvers/flow/scheme/options.hpp"

namespace strata::flow {

template <int Dim, class V>
using Vector = std::array<V, static_cast<std::size_t>(Dim)>;

template <class V, std::size_t N>
V dot(const std::array<V, N>& a, const std::array<V, N>& b) {
    V s = a[0] * b[0];
    for (std::size_t d = 1; d < N; ++d) s = s + a[d] * b[d];
    return s;
}

/// Density, velocity, pressure.
template <int Dim, class V>
struct Primitive {
    V rho;
    Vector<Dim, V> u;
    V p;
};

/// Density, momentum and total energy of a unit of volume, or a flux of them.
template <int Dim, class V>
struct Conserved {
    V rho;
    Vector<Dim, V> m;
    V E;
};

template <int Dim, class V>
Primitive<Dim, V> primitive(const Conserved<Dim, V>& q, double gamma) {
    Primitive<Dim, V> w;
    w.rho = q.rho;
    const V over = 1.0 / q.rho;
    for (std::size_t d = 0; d < Dim; ++d) w.u[d] = q.m[d] * over;
    w.p = (gamma - 1) * (q.E - 0.5 * dot(q.m, w.u));
    return w;
}

template <int Dim, class V>
Conserved<Dim, V> conserved(const Primitive<Dim, V>& w, double gamma) {
    Conserved<Dim, V> q;
    q.rho = w.rho;
    for (std::size_t d = 0; d < Dim; ++d) q.m[d] = w.rho * w.u[d];
    q.E = w.p * (1 / (gamma - 1)) + 0.5 * dot(q.m, w.u);
    return q;
}

/// The flux through an area vector.
template <int Dim, class V>
Conserved<Dim, V> convective_flux(const Primitive<Dim, V>& w, const Vector<Dim, V>& area, double gamma) {
    const Conserved<Dim, V> q = conserved(w, gamma);
    const V through = dot(w.u, area);
    Conserved<Dim, V> f;
    f.rho = q.rho * through;
    for (std::size_t d = 0; d < Dim; ++d) f.m[d] = q.m[d] * through + w.p * area[d];
    f.E = (q.E + w.p) * through;
    return f;
}

/// A dq . S: the change of convective_flux() with the conserved state, by its exact Jacobian at velocity u
/// and total enthalpy H.
template <int Dim, class V>
Conserved<Dim, V> flux_change(const Vector<Dim, V>& u, const V& H, const Conserved<Dim, V>& dq,
                              const Vector<Dim, V>& area, double gamma) {
    const V through = dot(u, area);
    const V mass = dot(dq.m, area);
    const V faster = mass - through * dq.rho;  // rho times the change of u . S
    const V dp = (gamma - 1) * (dq.E - dot(u, dq.m) + 0.5 * dot(u, u) * dq.rho);
    Conserved<Dim, V> f;
    f.rho = mass;
    for (std::size_t d = 0; d < Dim; ++d) f.m[d] = u[d] * faster + through * dq.m[d] + dp * area[d];
    f.E = H * faster + through * (dq.E + dp);
    return f;
}

/// Sutherland's law, at a temperature over that of the far field: the viscosity and one over it.
template <class V>
std::array<V, 2> viscosity_of(const V& T, double sutherland) {
    const V sum = T + sutherland, cube = (1 + sutherland) * T * sqrt(T);
    return {cube / sum, sum / cube};
}

}  // namespace strata::flow
