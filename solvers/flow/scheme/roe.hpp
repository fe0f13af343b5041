// Roe, P. L. (1981), J. Comput. Phys. 43: the upwind flux at a face, with Harten's entropy fix of the
// acoustic waves, and Rieper, F. (2011), J. Comput. Phys. 230: the same at low Mach numbers.
#pragma once

#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/lanes.hpp"

namespace strata::flow {

// In parts, each a short chain of operations: a processor waits for such a chain alone, and a loop over
// many faces for each part keeps it busy.

/// A face: its unit normal and half of its area. A face without area, as on an axis, has no normal.
template <int Dim, class V>
struct FaceSize {
    Vector<Dim, V> normal;
    V half, over;  // over: 1 / area

    explicit FaceSize(const Vector<Dim, V>& area) {
        const V size = sqrt(dot(area, area));
        over = 1.0 / max(size, V{} + 1e-150);
        half = 0.5 * size;
        for (std::size_t d = 0; d < Dim; ++d) normal[d] = area[d] * over;
    }
};

/// Roe's mean has the weights sqrt(rho_l) and sqrt(rho_r), over their sum.
template <class V>
struct RoeWeights {
    V root;                 // Roe's density
    V left;                 // weight of the left state
    V left_rho, right_rho;  // the same over the densities, for what is there by volume

    RoeWeights(const V& root_, const V& left_, const V& l_rho, const V& r_rho)
        : root(root_), left(left_), left_rho(l_rho), right_rho(r_rho) {}
    RoeWeights(const V& l, const V& r) {
        root = sqrt(l * r);
        left_rho = 1.0 / (l + root), left = l * left_rho;
        right_rho = left_rho * (root / r);
    }
};

/// Density times total enthalpy.
template <int Dim, class V>
V enthalpy(const Primitive<Dim, V>& w, double gamma) {
    return w.p * (gamma / (gamma - 1)) + (0.5 * w.rho) * dot(w.u, w.u);
}

template <int Dim, class V>
struct RoeMean {
    Vector<Dim, V> u;
    V H, a, half_over_a2;

    RoeMean() = default;
    /// `l_H`, `r_H`: enthalpy().
    RoeMean(const Primitive<Dim, V>& l, const Primitive<Dim, V>& r, const V& l_H, const V& r_H,
            const RoeWeights<V>& by, double gamma) {
        const V right = 1.0 - by.left;
        for (std::size_t d = 0; d < Dim; ++d) u[d] = by.left * l.u[d] + right * r.u[d];
        H = l_H * by.left_rho + r_H * by.right_rho;
        const V a2 = (gamma - 1) * (H - 0.5 * dot(u, u));
        a = sqrt(a2), half_over_a2 = 0.5 / a2;
    }
};

/// (F(l) + F(r)) . S / 2 less half of |A| (r - l), A at Roe's mean of both. `fix`: |lambda| of the acoustic
/// waves below delta = fix (|u_n| + a) becomes (lambda^2 + delta^2) / (2 delta); 0: none. `low_mach`: a jump
/// of the velocity across the face counts min(1, |u| / a) times in the acoustic waves; at full it smooths
/// velocities by the speed of sound, 1 / Mach times as much as what is carried along. `moves`: the face moves
/// along its normal with `speed` (what it sweeps in a unit of time over its area), so that the flux is (F -
/// speed q n) . S and all waves are slower by it; |u| is at least |u_n - speed| there, or a fluid at rest
/// would have no smoothing where the grid rushes through it.
template <int Dim, class V, bool moves = false>
Conserved<Dim, V> roe_flux(const Primitive<Dim, V>& l, const Primitive<Dim, V>& r, const V& l_H, const V& r_H,
                           const V& root, const RoeMean<Dim, V>& mean, const Vector<Dim, V>& n,
                           const V& half_size, double fix, bool low_mach, const V& speed = V{}) {
    const V l_un = dot(l.u, n), r_un = dot(r.u, n), un = dot(mean.u, n), square = dot(mean.u, mean.u);
    const V& a = mean.a;
    V through = un, l_through = l_un, r_through = r_un;
    if constexpr (moves) through = un - speed, l_through = l_un - speed, r_through = r_un - speed;
    V entropy = abs(through), plus = abs(through + a), minus = abs(through - a);
    if (fix > 0) {
        const V delta = fix * (entropy + a);
        const V half = 0.5 / delta;
        plus = select(plus < delta, (plus * plus + delta * delta) * half, plus);
        minus = select(minus < delta, (minus * minus + delta * delta) * half, minus);
    }

    const V drho = r.rho - l.rho, dp = r.p - l.p, dun = r_un - l_un;
    V sound = root * a * dun;
    if (low_mach) {
        V mach = sqrt(square) / a;
        if constexpr (moves) mach = max(mach, entropy / a);
        sound = sound * min(mach, 0.0 * square + 1.0);
    }
    const V w_minus = minus * (dp - sound) * mean.half_over_a2;
    const V w_plus = plus * (dp + sound) * mean.half_over_a2;
    const V w_entropy = entropy * (drho - 2.0 * mean.half_over_a2 * dp);
    const V shear = entropy * root, waves = w_minus + w_plus;
    const V all = waves + w_entropy, along = a * (w_plus - w_minus) - shear * dun;

    Conserved<Dim, V> f;
    const V p = (l.p + r.p) - along;
    const V l_mass = l.rho * l_through, r_mass = r.rho * r_through;
    f.rho = half_size * (l_mass + r_mass - all);
    V u_du{};
    for (std::size_t d = 0; d < Dim; ++d) {
        const V du = r.u[d] - l.u[d];
        u_du = u_du + mean.u[d] * du;
        f.m[d] =
            half_size * ((l_mass * l.u[d] + r_mass * r.u[d]) + (p * n[d] - (all * mean.u[d] + shear * du)));
    }
    V energy = l_H * l_through + r_H * r_through;
    if constexpr (moves) energy = energy + (l.p + r.p) * speed;
    f.E = half_size * (energy - ((waves * mean.H + w_entropy * 0.5 * square) + (along * un + shear * u_du)));
    return f;
}

/// The same of two states and an area vector, `swept` in a unit of time.
template <int Dim, class V, bool moves = false>
Conserved<Dim, V> roe_flux(const Primitive<Dim, V>& l, const Primitive<Dim, V>& r, const Vector<Dim, V>& area,
                           double gamma, double fix, bool low_mach = false, const V& swept = V{}) {
    const FaceSize<Dim, V> face(area);
    const RoeWeights<V> by(l.rho, r.rho);
    const V l_H = enthalpy(l, gamma), r_H = enthalpy(r, gamma);
    return roe_flux<Dim, V, moves>(l, r, l_H, r_H, by.root, RoeMean<Dim, V>(l, r, l_H, r_H, by, gamma),
                                   face.normal, face.half, fix, low_mach, swept * face.over);
}

}  // namespace strata::flow
