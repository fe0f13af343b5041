// The equations that SP, BT and LU solve (RNR-94-007, section 3: the simulated CFD applications): five
// nonlinear equations of advection and diffusion on the unit cube, made so that a polynomial is their steady
// solution.
//
//   dU/dt = dE/dx + dF/dy + dG/dz + dT/dx + dV/dy + dW/dz + H
//
// U = (density, momentum in x, y and z, energy); E, F, G are the fluxes of a gas, T, V, W those of viscosity,
// heat and a diffusion of each component; H is the forcing that makes the polynomial steady.
#pragma once

#include <array>
#include <cstdint>

namespace strata::npb::flow {

inline constexpr int kComponents = 5;
using State = std::array<double, kComponents>;

/// k1 to k5 of the specification: ratio of specific heats, k1 - 1, viscosity, heat conduction and so on.
inline constexpr double k1 = 1.4, k2 = 0.4, k3 = 0.1, k4 = 1.0, k5 = 1.4;
/// Viscosity as it enters everywhere, and heat conduction beside it.
inline constexpr double kViscous = k3 * k4, kHeat = k1 * k5;
/// Diffusion of the components along x, y and z (the specification names five for each direction, all alike).
inline constexpr std::array<double, 3> kDiffusion = {0.75, 0.75, 1.0};
/// Of the fourth differences: a quarter of the largest diffusion.
inline constexpr double kDissipation = 0.25;

/// The exact steady solution, a polynomial of degree 4, at a point of the unit cube.
[[nodiscard]] State exact(double x, double y, double z);

/// Points along x, y and z: of a grid, or a point's place, counted from 0.
using Index = std::array<std::int64_t, 3>;
/// Intervals to the unit of length along x, y and z: n - 1 where a grid of n points spans the unit cube.
using Scale = std::array<double, 3>;
[[nodiscard]] constexpr Scale scale_of(const Index& n) {
    return {static_cast<double>(n[0] - 1), static_cast<double>(n[1] - 1), static_cast<double>(n[2] - 1)};
}

/// What the iterations begin with at a point of a grid of n points, 0 <= at < n: blended from the exact
/// values on the six faces of the unit cube, and these on the grid's faces. A point of several faces belongs
/// to that in z, else to that in y.
[[nodiscard]] State initial(const Index& at, const Index& n, const Scale& scale);
/// The exact solution at a point of the grid.
[[nodiscard]] State exact(const Index& at, const Scale& scale);

/// Factors of the differences along one direction, with so many intervals to the unit of length.
struct Axis {
    double first;      // 1 / (2 h): of a central difference
    double second;     // 1 / h^2: of a second difference
    double diffusion;  // of the components
    Axis(double intervals, double d) : first(0.5 * intervals), second(intervals * intervals), diffusion(d) {}
};
[[nodiscard]] inline std::array<Axis, 3> axes_of(const Scale& scale) {
    return {Axis(scale[0], kDiffusion[0]), Axis(scale[1], kDiffusion[1]), Axis(scale[2], kDiffusion[2])};
}

/// Weights of the fourth difference at point `at` of 0 to n - 1, from two points before to two behind: 1 -4 6
/// -4 1, and next to the boundary what is left when differences that reach over it are dropped.
using Weights = std::array<double, 5>;
[[nodiscard]] constexpr Weights fourth_difference(std::int64_t at, std::int64_t n) {
    const bool first = at == 1, last = at == n - 2;
    return {at >= 3 ? 1.0 : 0.0, at >= 2 ? -4.0 : 0.0, first || last ? 5.0 : 6.0, at <= n - 3 ? -4.0 : 0.0,
            at <= n - 4 ? 1.0 : 0.0};
}

}  // namespace strata::npb::flow
