// Roe, P. L. (1981), J. Comput. Phys. 43: the upwind flux at a face, with Harten's entropy fix of the
// acoustic waves, and Rieper, F. (2011), J. Comput. Phys. 230: the same at low Mach numbers.
#pragma once

#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/lanes.hpp"

namespace strata::flow {

/// (F(l) + F(r)) . S / 2 less half of |A| (r - l), A at Roe's mean of both. `fix`: |lambda| of the acoustic
/// waves below delta = fix (|u_n| + a) becomes (lambda^2 + delta^2) / (2 delta); 0: none. A face without
/// area, as on an axis, has no flux. `low_mach`: a jump of the velocity across the face counts min(1, |u| /
/// a) times in the acoustic waves; at full it smooths velocities by the speed of sound, 1 / Mach times as
/// much as what is carried along. `moves`: the face sweeps the volume `swept` in a unit of time, so that the
/// flux is (F - swept / |S| q) . S and all waves are slower by swept / |S|; |u| is at least |u_n - swept /
/// |S|| there, or a fluid at rest would have no smoothing where the grid rushes through it.
template <int Dim, class V, bool moves = false>
Conserved<Dim, V> roe_flux(const Primitive<Dim, V>& l, const Primitive<Dim, V>& r, const Vector<Dim, V>& area,
                           double gamma, double fix, bool low_mach = false, const V& swept = V{}) {
    const double g1 = gamma - 1, over_g1 = 1 / g1;
    const V square_size = dot(area, area), over_size = over_root(square_size), size = square_size * over_size;
    Vector<Dim, V> n;
    for (std::size_t d = 0; d < Dim; ++d) n[d] = area[d] * over_size;

    const V l_square = dot(l.u, l.u), r_square = dot(r.u, r.u);
    const V l_rhoH = l.p * (gamma * over_g1) + 0.5 * l.rho * l_square;
    const V r_rhoH = r.p * (gamma * over_g1) + 0.5 * r.rho * r_square;
    const V l_un = dot(l.u, n), r_un = dot(r.u, n);

    // Roe's mean: weights sqrt(rho_l) and sqrt(rho_r).
    const V product = l.rho * r.rho, over_product = over_root(product);
    const V root = product * over_product;  // Roe's density
    const V over_sum = 1.0 / (l.rho + root), l_weight = l.rho * over_sum;
    const V r_weight = 1.0 - l_weight;
    Vector<Dim, V> u;
    for (std::size_t d = 0; d < Dim; ++d) u[d] = l_weight * l.u[d] + r_weight * r.u[d];
    const V H = (l_rhoH + r_rhoH * (l.rho * over_product)) * over_sum;
    const V square = dot(u, u), un = dot(u, n);
    const V a2 = g1 * (H - 0.5 * square);
    const V over_a = over_root(a2), a = a2 * over_a;

    V speed{}, through = un;
    if constexpr (moves) speed = swept * over_size, through = un - speed;
    V entropy = abs(through), plus = abs(through + a), minus = abs(through - a);
    if (fix > 0) {
        const V delta = fix * (entropy + a);
        const V half = 0.5 / delta;
        plus = select(plus < delta, (plus * plus + delta * delta) * half, plus);
        minus = select(minus < delta, (minus * minus + delta * delta) * half, minus);
    }

    const V drho = r.rho - l.rho, dp = r.p - l.p, dun = r_un - l_un;
    const V over_2a2 = 0.5 * over_a * over_a;
    V sound = root * a * dun;
    if (low_mach) {
        V mach = sqrt(square) * over_a;
        if constexpr (moves) mach = max(mach, entropy * over_a);
        sound = sound * min(mach, 0.0 * square + 1.0);
    }
    const V w_minus = minus * (dp - sound) * over_2a2;
    const V w_plus = plus * (dp + sound) * over_2a2;
    const V w_entropy = entropy * (drho - 2.0 * over_2a2 * dp);
    const V shear = entropy * root;
    const V all = w_minus + w_plus + w_entropy, along = a * (w_plus - w_minus) - shear * dun;

    Conserved<Dim, V> f;
    const V p = l.p + r.p, half = 0.5 * size;
    V l_through = l_un, r_through = r_un;
    if constexpr (moves) l_through = l_un - speed, r_through = r_un - speed;
    const V l_mass = l.rho * l_through, r_mass = r.rho * r_through;
    f.rho = half * (l_mass + r_mass - all);
    V u_du = 0.0 * size;
    for (std::size_t d = 0; d < Dim; ++d) {
        const V du = r.u[d] - l.u[d];
        u_du = u_du + u[d] * du;
        f.m[d] =
            half * (l_mass * l.u[d] + r_mass * r.u[d] + p * n[d] - (all * u[d] + along * n[d] + shear * du));
    }
    V energy = l_rhoH * l_through + r_rhoH * r_through;
    if constexpr (moves) energy = energy + p * speed;
    f.E = half * (energy - ((w_minus + w_plus) * H + w_entropy * 0.5 * square + along * un + shear * u_du));
    return f;
}

}  // namespace strata::flow
