// What the kernels of the flow solver are told: gas, scheme, turbulence model, size of the step.
//
// Everything is non-dimensional with the far field's density, speed of sound, temperature and viscosity, and
// the grid's unit of length: rho = a = T = mu = 1, p = 1/gamma, |u| = Mach. Terms with a viscosity carry Mach
// / Re.
#pragma once

#include <array>

namespace strata::flow {

struct Gas {
    double gamma = 1.4;
    double prandtl = 0.72, turbulent_prandtl = 0.9;
    double mach = 0.2;        ///< of the far field, or of a rotor's tips (reference.mach)
    double reynolds = 1e6;    ///< of the far field, for a unit of length of the grid
    double sutherland = 0.4;  ///< Sutherland's temperature (110.33 K, 198.6 R) over that of the far field
    [[nodiscard]] double viscous_scale() const { return mach / reynolds; }
};

/// Limiters of slopes, each symmetric: van Albada, van Leer and Roberts (1982); van Leer (1974).
enum class Limiter { none, minmod, van_albada, van_leer };

/// Extrapolation of density, velocity and pressure to the faces (van Leer's kappa scheme).
struct Muscl {
    bool first_order = false;
    double kappa = 1.0 / 3;
    Limiter limiter = Limiter::none;
};

/// On coarser grids of a multigrid cycle, frozen: with the turbulent viscosity of a nu~ that stays as it is;
/// frozen_eddies: with one that itself stays as it is (step_viscosity()). sst: Menter's k and omega.
enum class Viscosity { none, laminar, frozen, frozen_eddies, spalart_allmaras, sst };

/// Spalart, P. R., Allmaras, S. R. (1994), and its negative form: Allmaras, S. R., Johnson, F. T., Spalart,
/// P. R. (2012), ICCFD7-1902.
struct SpalartAllmaras {
    bool negative = false;
    bool ft2 = true;            ///< the term that keeps laminar flow laminar
    bool second_order = false;  ///< of its advection
    double clip = 0.3;          ///< standard form: S~ >= clip |vorticity|
    bool with_source = true;    ///< production and destruction (manufactured solutions go without, or with)
};

/// The distance to the nearest wall of a case that has none: so far away that no turbulence model sees it,
/// and still a number, of which models take the square. Destruction, (nu~ / d)^2, is then 1e-30 of that at a
/// distance of 1.
inline constexpr double kFarFromWalls = 1e15;

/// Menter, F. R. (1994), AIAA J. 32, 1598.
struct Sst {
    bool vorticity = false;     ///< production by the vorticity, not by the strain rate
    bool second_order = false;  ///< of the advection of k and omega
    bool with_source = true;
};

struct Scheme {
    Gas gas;
    Muscl muscl;
    /// Harten's: |lambda| of acoustic waves below this share of |u_n| + a is rounded off. 0: Roe's own.
    double entropy_fix = 0;
    bool low_mach = false;  ///< Rieper's form of Roe's flux
    Viscosity viscosity = Viscosity::none;
    SpalartAllmaras sa;
    Sst sst;
    /// Two dimensions: y is the distance from the axis, faces and volumes are those of a wedge of one radian.
    bool axisymmetric = false;
    /// Of a frame that turns: radians in a unit of time about x, y, z. Momentum is that seen at rest, along
    /// the frame's axes.
    std::array<double, 3> spin{};
    [[nodiscard]] bool turns() const { return spin[0] != 0 || spin[1] != 0 || spin[2] != 0; }
    [[nodiscard]] bool viscous() const { return viscosity != Viscosity::none; }
    /// Equations of the turbulence model that are solved: nu~'s, or those of k and omega.
    [[nodiscard]] int model_equations() const {
        return viscosity == Viscosity::spalart_allmaras ? 1 : is_sst() ? 2 : 0;
    }
    [[nodiscard]] bool turbulent() const { return model_equations() > 0; }
    [[nodiscard]] bool is_sst() const { return viscosity == Viscosity::sst; }
    /// Whether the turbulent viscosity lies with the step's (kEddy), and not in nu~.
    [[nodiscard]] bool keeps_eddies() const { return is_sst() || viscosity == Viscosity::frozen_eddies; }
    /// Whether there is a turbulent viscosity.
    [[nodiscard]] bool eddies() const {
        return turbulent() || viscosity == Viscosity::frozen || keeps_eddies();
    }
};

/// Of one implicit step.
struct StepSize {
    double cfl = 1;
    double cfl_turbulence = 1;
    /// Lines: that of all axes but the one along which waves cross a cell soonest. Factoring errs where it is
    /// large, in cells that are about as long as high.
    double cfl_across = 10;
    /// Dual time: the coefficient of q at the new time, 1.5 / step for second order; 0: steady.
    double physical = 0;
};

}  // namespace strata::flow
