// Exact solutions, for verify and tests. Units: those of the case, gamma given.
#pragma once

#include <array>
#include <vector>

#include "core/graph/declare/box.hpp"

namespace strata::flow {

using graph::Real3;

/// A one-dimensional state of an ideal gas.
struct GasState {
    double rho = 1, u = 0, p = 1;
};

/// The exact solution of a Riemann problem (Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics,
/// 3rd ed. 2009, chapter 4).
class RiemannProblem {
  public:
    /// Throws Error where the states make a vacuum (eq. 4.40), or density or pressure is not positive.
    RiemannProblem(const GasState& left, const GasState& right, double gamma = 1.4);
    /// The state at x / t = `speed` from where the states met.
    [[nodiscard]] GasState at(double speed) const;
    [[nodiscard]] double star_pressure() const { return p_; }
    [[nodiscard]] double star_velocity() const { return u_; }

  private:
    GasState left_, right_;
    double gamma_, p_ = 0, u_ = 0;
};
/// Sod (1978): density and pressure 1, 1 | 0.125, 0.1, at rest; by t = 0.2 on 0 to 1.
[[nodiscard]] RiemannProblem sod();
/// Lax (1954): 0.445, 0.698, 3.528 | 0.5, 0, 0.571; by t = 0.13 on 0 to 1.
[[nodiscard]] RiemannProblem lax();

/// The isentropic vortex (Shu 1998) in units of the free stream (rho = a = 1): it moves with it, unchanged.
/// u, v grow as strength / (2 pi) exp((1 - r^2) / 2) r, r from the centre, in radii.
struct IsentropicVortex {
    double gamma = 1.4, strength = 1, radius = 1;
    Real3 centre{}, velocity{0.5, 0, 0};
    /// rho, u, v, p at x at time t. On a periodic box of lengths `period` (0: none) the nearest image counts.
    [[nodiscard]] std::array<double, 4> at(const Real3& x, double t, const Real3& period = {}) const;
};

/// The boundary layer on a plate without pressure gradient: f''' + f f'' / 2 = 0, f(0) = f'(0) = 0, f'(inf) =
/// 1, solved by shooting (Runge-Kutta of fourth order). eta = y sqrt(U / (nu x)).
class Blasius {
  public:
    Blasius();
    /// u / U and v sqrt(Re_x) / U at eta.
    [[nodiscard]] double u(double eta) const;
    [[nodiscard]] double v(double eta) const;
    /// f''(0): 0.33206.
    [[nodiscard]] double shear() const { return shear_; }
    /// Cf = 2 f''(0) / sqrt(Re_x): 0.664 / sqrt(Re_x).
    [[nodiscard]] double friction(double reynolds_x) const;

  private:
    [[nodiscard]] std::array<double, 3> at(double eta) const;
    double shear_ = 0;
    std::vector<std::array<double, 3>> f_;  // f, f', f'' at multiples of a step
};

/// Compressible flow between a wall at rest at y = 0 and one at y = 1 that moves with `speed` (in speeds of
/// sound of the reference), at temperatures; viscosity by Sutherland's law. Stress is constant, and T = T_0 +
/// (T_1 - T_0) u/U + Pr (gamma - 1) / 2 (U u - u^2). With speed -> 0 and equal temperatures u = y U.
class Couette {
  public:
    Couette(double speed, double temperature_below, double temperature_above, double gamma = 1.4,
            double prandtl = 0.72, double sutherland = 110.33 / 288.15);
    [[nodiscard]] double temperature(double u) const;
    [[nodiscard]] double u(double y) const;
    /// mu du/dy.
    [[nodiscard]] double stress() const { return stress_; }

  private:
    [[nodiscard]] double viscosity_until(double u) const;  // integral of mu from 0 to u
    double speed_, below_, above_, gamma_, prandtl_, sutherland_, stress_ = 0;
};

}  // namespace strata::flow
