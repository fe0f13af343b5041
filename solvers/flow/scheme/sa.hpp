// Spalart and Allmaras' model, in the form of papers that advect nu~ (not rho nu~):
//   Dnu~/Dt = P - D + ((1 + cb2) div((nu + nu~) grad nu~) - cb2 (nu + nu~) div grad nu~) / sigma
// Standard form: Spalart, P. R., Allmaras, S. R. (1994), La Recherche Aerospatiale 1; S~ >= 0.3 |vorticity|
// or as told. Negative form: Allmaras, S. R., Johnson, F. T., Spalart, P. R. (2012), ICCFD7-1902; equations
// are that paper's. nu~ is in units of the far field's viscosity; `scale` is Mach / Re.
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

template <class V>
Source<V> source(const V& nu_tilde, const V& chi, const V& vorticity, const V& distance, double scale,
                 const SpalartAllmaras& form) {
    const V zero{};
    const V cube = chi * chi * chi, low_cube = cube + cv1 * cv1 * cv1;
    const V part = low_cube / (low_cube + chi * cube), fv2 = 1.0 - chi * part;  // part: 1 / (1 + chi fv1)
    const V ft2 = form.ft2 ? ct3 * exp(-ct4 * chi * chi) : zero;
    // Everything times d^2, so that one quotient is left at the end.
    const V d2 = distance * distance, over_d2 = 1.0 / d2;
    const V turning = vorticity * d2, own = scale * nu_tilde, k = own * (1 / (kappa * kappa)), bar = k * fv2;
    V S = turning + bar;
    if (form.negative) {  // equations 11 and 12
        const V low =
            turning + turning * (cv2 * cv2 * turning + cv3 * bar) / ((cv3 - 2 * cv2) * turning - bar);
        S = select(bar < -cv2 * turning, low, S);
    } else {
        S = max(S, form.clip * turning);
    }
    S = max(S, zero + 1e-30);
    const V ratio = k / S;
    const V r = select(ratio < 10.0, max(ratio, zero), zero + 10.0);
    const V r2 = r * r, r6 = r2 * r2 * r2, g = r + cw2 * (r6 - r), g2 = g * g, g6 = g2 * g2 * g2;
    constexpr double c6 = cw3 * cw3 * cw3 * cw3 * cw3 * cw3;
    const V fw = g * over_sixth_root((g6 + c6) * (1 / (1 + c6)));
    const V growth = cb1 * (1.0 - ft2) * S * over_d2;
    const V decay = (cw1 * fw - (cb1 / (kappa * kappa)) * ft2) * own * over_d2;
    // By nu~: fw changes with r, and r and S with nu~ (ft2 is held). Where S is clipped the larger slope
    // of both sides counts, or nu~ would jump from one to the other.
    const V bent = 3 * cv1 * cv1 * cv1 * chi * cube / (low_cube * low_cube);
    const V free = k * (fv2 - chi * part * part * (1.0 - bent));
    const V growing = select(S > turning + bar, min(free, zero), free);
    const V steep = (fw * c6) * (1.0 + cw2 * (6.0 * r2 * r2 * r - 1.0)) / (max(g, zero + 1e-30) * (g6 + c6)) *
                    r * (1.0 - growing / S);
    const V more = cw1 * select(ratio < 10.0, max(steep, zero), zero) * own * over_d2 -
                   cb1 * (1.0 - ft2) * growing * over_d2;
    Source<V> s{(growth - decay) * nu_tilde, max(2.0 * decay - growth + more, zero)};
    if (form.negative) {  // equations 22 and 23
        const V growth_below = cb1 * (1 - ct3) * vorticity;
        const V decay_below = -cw1 * own * over_d2;
        const auto below = nu_tilde < zero;
        s.value = select(below, (growth_below - decay_below) * nu_tilde, s.value);
        s.slope = select(below, max(2.0 * decay_below - growth_below, zero), s.slope);
    }
    return s;
}

}  // namespace strata::flow::sa
