// The mass that flows through one face, as the residual has it: Roe's flux between the states that MUSCL
// extrapolates. (Viscous fluxes carry none.) For sums over few faces; residual.cpp has all faces of a patch.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "solvers/flow/scheme/muscl.hpp"
#include "solvers/flow/scheme/options.hpp"
#include "solvers/flow/scheme/patch.hpp"
#include "solvers/flow/scheme/roe.hpp"

namespace strata::flow {

[[nodiscard]] inline double to_face(Limiter limiter, double behind, double ahead, double kappa) {
    switch (limiter) {
        case Limiter::none:
            return to_face<Limiter::none>(behind, ahead, kappa);
        case Limiter::minmod:
            return to_face<Limiter::minmod>(behind, ahead, kappa);
        case Limiter::van_albada:
            return to_face<Limiter::van_albada>(behind, ahead, kappa);
        case Limiter::van_leer:
            break;
    }
    return to_face<Limiter::van_leer>(behind, ahead, kappa);
}

/// The mass that flows up the index through the lower face of a cell along an axis, in a unit of time. q has
/// two layers of cells on either side of the face.
template <int Dim>
[[nodiscard]] double mass_flow(const Patch<Dim>& patch, const Scheme& scheme, int axis, const Int3& cell) {
    constexpr auto D = static_cast<std::size_t>(Dim);
    const double gamma = scheme.gas.gamma;
    // Density, velocity and pressure of the two cells below the face and the two above it.
    std::array<std::array<double, D + 2>, 4> w{};
    for (std::size_t n = 0; n < 4; ++n) {
        Int3 at = cell;
        at[static_cast<std::size_t>(axis)] += static_cast<int>(n) - 2;
        Conserved<Dim, double> q;
        q.rho = patch.q(at[0], at[1], at[2], 0), q.E = patch.q(at[0], at[1], at[2], Dim + 1);
        for (std::size_t d = 0; d < D; ++d) q.m[d] = patch.q(at[0], at[1], at[2], 1 + static_cast<int>(d));
        const Primitive<Dim, double> of = primitive(q, gamma);
        w[n][0] = of.rho, w[n][D + 1] = of.p;
        for (std::size_t d = 0; d < D; ++d) w[n][1 + d] = of.u[d];
    }
    std::array<double, D + 2> left = w[1], right = w[2];
    if (!scheme.muscl.first_order)
        for (std::size_t c = 0; c < D + 2; ++c) {
            const double middle = w[2][c] - w[1][c];
            left[c] += to_face(scheme.muscl.limiter, w[1][c] - w[0][c], middle, scheme.muscl.kappa);
            right[c] -= to_face(scheme.muscl.limiter, w[3][c] - w[2][c], middle, scheme.muscl.kappa);
        }
    if (!(std::min(left[0], left[D + 1]) > 0)) left = w[1];
    if (!(std::min(right[0], right[D + 1]) > 0)) right = w[2];
    const auto state = [](const std::array<double, D + 2>& of) {
        Primitive<Dim, double> made;
        made.rho = of[0], made.p = of[D + 1];
        for (std::size_t d = 0; d < D; ++d) made.u[d] = of[1 + d];
        return made;
    };
    Vector<Dim, double> area;
    const auto a = static_cast<std::size_t>(axis);
    for (std::size_t d = 0; d < D; ++d)
        area[d] = patch.faces[a](cell[0], cell[1], cell[2], static_cast<int>(d));
    const Primitive<Dim, double> l = state(left), r = state(right);
    if (!patch.moves())
        return roe_flux<Dim, double>(l, r, area, gamma, scheme.entropy_fix, scheme.low_mach).rho;
    return roe_flux<Dim, double, true>(l, r, area, gamma, scheme.entropy_fix, scheme.low_mach,
                                       patch.speeds[a](cell[0], cell[1], cell[2]))
        .rho;
}

}  // namespace strata::flow
