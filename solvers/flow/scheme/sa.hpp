// Spalart and Allmaras' model, in the form of papers that advect nu~ (not rho nu~):
//   Dnu~/Dt = P - D + ((1 + cb2) div((nu + nu~) grad nu~) - cb2 (nu + nu~) div grad nu~) / sigma
// Standard form: Spalart, P. R., Allmaras, S. R. (1994), La Recherche Aerospatiale 1; S~ >= 0.3 |vorticity|
// or as told. Negative form: Allmaras, S. R., Johnson, F. T., Spalart, P. R. (2012), ICCFD7-1902; equations
// are that paper's. nu~ is in units of the far field's viscosity; `scale` is Mach / Re. Without walls d is
// large (kFarFromWalls): what is over d vanishes, and production and diffusion are left, with which Spalart
// and Allmaras begin their model (free shear flows).
#pragma once

#include "solvers/flow/scheme/lanes.hpp"
#include "solvers/flow/scheme/options.hpp"

namespace strata::flow::sa {

inline constexpr double cb1 = 0.1355, cb2 = 0.622, sigma = 2.0 / 3, kappa = 0.41, cw2 = 0.3, cw3 = 2,
                        cv1 = 7.1, ct3 = 1.2, ct4 = 0.5, cv2 = 0.7, cv3 = 0.9, cn1 = 16;
inline constexpr double cw1 = cb1 / (kappa * kappa) + (1 + cb2) / sigma;

/// mu_t over mu, of chi = nu~ / nu; none where chi < 0.
template <class V>
V eddy(const V& chi) {
    const V x = max(chi, V{}), cube = x * x * x;
    return x * cube / (cube + cv1 * cv1 * cv1);
}

/// The viscosity of nu~'s diffusion over nu, 1 + fn chi: equations 20 and 21; the standard form has fn = 1.
template <class V>
V diffusivity(const V& chi, bool negative) {
    if (!negative) return 1.0 + chi;
    const V zero{}, cube = chi * chi * chi;
    const V fn = (cn1 + cube) / (cn1 - min(cube, zero));
    return 1.0 + select(chi < zero, fn, zero + 1.0) * chi;
}

/// Production less destruction, for a unit of volume, and a slope for the implicit step: that of destruction
/// less production by nu~ with ft2 held, where it is positive.
template <class V>
struct Source {
    V value, slope;
};

// In parts, as Roe's flux is (roe.hpp): a processor waits for long chains of operations.

/// S~, r (from 0 to 10), ft2, and the slope of S~ by nu~ times nu~; all with lengths over the distance to the
/// wall: S~ d^2.
template <class V>
struct Strength {
    V S, r, ft2, growing;

    Strength() = default;
    Strength(const V& nu_tilde, const V& chi, const V& vorticity, const V& distance, double scale,
             const SpalartAllmaras& form) {
        const V zero{};
        const V cube = chi * chi * chi, over = 1.0 / (cube + cv1 * cv1 * cv1), fv1 = cube * over;
        const V part = 1.0 / (1.0 + chi * fv1), fv2 = 1.0 - chi * part;
        ft2 = form.ft2 ? ct3 * exp(-ct4 * chi * chi) : zero;
        const V turning = vorticity * (distance * distance);
        const V k = nu_tilde * (scale / (kappa * kappa)), bar = k * fv2, free_S = turning + bar;
        S = free_S;
        if (form.negative) {  // equations 11 and 12
            const V low =
                turning + turning * (cv2 * cv2 * turning + cv3 * bar) / ((cv3 - 2 * cv2) * turning - bar);
            S = select(bar < -cv2 * turning, low, S);
        } else {
            S = max(S, form.clip * turning);
        }
        S = max(S, zero + 1e-30);
        r = min(max(k / S, zero), zero + 10.0);
        // Where S is clipped the larger slope of both sides counts, or nu~ would jump from one to the other.
        const V bent = (3 * cv1 * cv1 * cv1) * fv1 * over;
        const V free = k * (fv2 - chi * (part * part) * (1.0 - chi * bent));
        growing = select(S > free_S, min(free, zero), free);
    }
};

/// g, and what it makes fw: fw = g times the sixth root of `low` = (1 + cw3^6) / (g^6 + cw3^6).
template <class V>
struct WallFunction {
    V g, fw;

    WallFunction() = default;
    explicit WallFunction(const V& r) {
        constexpr double c6 = cw3 * cw3 * cw3 * cw3 * cw3 * cw3;
        const V r2 = r * r, r3 = r2 * r;
        g = (1 - cw2) * r + cw2 * (r3 * r3);
        const V g2 = g * g;
        fw = g * over_sixth_root((g2 * g2) * (g2 * (1 / (1 + c6))) + c6 / (1 + c6));
    }
};

template <class V>
Source<V> source(const Strength<V>& at, const WallFunction<V>& wall, const V& nu_tilde, const V& vorticity,
                 const V& distance, double scale, const SpalartAllmaras& form) {
    constexpr double c6 = cw3 * cw3 * cw3 * cw3 * cw3 * cw3;
    const V zero{}, over_d2 = 1.0 / (distance * distance), own = scale * nu_tilde * over_d2;
    const V gain = (cb1 * over_d2) * (1.0 - at.ft2);
    const V growth = gain * at.S;
    const V decay = (cw1 * wall.fw - (cb1 / (kappa * kappa)) * at.ft2) * own;
    // By nu~: fw changes with r, and r and S with nu~ (ft2 is held).
    const V g2 = wall.g * wall.g, r2 = at.r * at.r;
    const V steep = (wall.fw * c6) * ((1 - cw2) + (6 * cw2) * (r2 * r2 * at.r)) *
                    (at.r * (at.S - at.growing)) / (max(wall.g, zero + 1e-30) * (g2 * g2 * g2 + c6) * at.S);
    const V more = cw1 * select(at.r < 10.0, max(steep, zero), zero) * own - gain * at.growing;
    Source<V> s{(growth - decay) * nu_tilde, max(2.0 * decay - growth + more, zero)};
    if (form.negative) {  // equations 22 and 23
        const V growth_below = cb1 * (1 - ct3) * vorticity;
        const V decay_below = -cw1 * own;
        const auto below = nu_tilde < zero;
        s.value = select(below, (growth_below - decay_below) * nu_tilde, s.value);
        s.slope = select(below, max(2.0 * decay_below - growth_below, zero), s.slope);
    }
    return s;
}

template <class V>
Source<V> source(const V& nu_tilde, const V& chi, const V& vorticity, const V& distance, double scale,
                 const SpalartAllmaras& form) {
    const Strength<V> at(nu_tilde, chi, vorticity, distance, scale, form);
    return source(at, WallFunction<V>(at.r), nu_tilde, vorticity, distance, scale, form);
}

}  // namespace strata::flow::sa
