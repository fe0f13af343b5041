// Menter's k-omega SST model (AIAA J. 32 (1994) 1598), with k and omega (not rho k, rho omega) as unknowns:
//   Dk/Dt = P / rho - beta* omega k + div((mu + sigma_k mu_t) grad k) / rho
//   Domega/Dt = gamma P / mu_t - beta omega^2 + div((mu + sigma_omega mu_t) grad omega) / rho
//               + 2 (1 - F1) sigma_omega2 grad k . grad omega / omega
// With the names of NASA's Turbulence Modeling Resource: SST-Vm, P = mu_t |vorticity|^2, or the standard one
// without k in the stresses, P = mu_t (2 S . S - 2/3 (div u)^2). k is limited to 20 times its destruction in
// production (Menter's recommendation there), omega's production is not. k and omega are in units of a^2 and
// a / L of the far field, `nu` is Mach / Re mu / rho. Numbers of equations are those of Menter's paper.
#pragma once

#include "solvers/flow/scheme/lanes.hpp"

namespace strata::flow::sst {

inline constexpr double kappa = 0.41, beta_star = 0.09, root_beta_star = 0.3, a1 = 0.31;
inline constexpr double sigma_k1 = 0.85, sigma_omega1 = 0.5, beta1 = 0.075;    // inner layer
inline constexpr double sigma_k2 = 1.0, sigma_omega2 = 0.856, beta2 = 0.0828;  // outer layer
inline constexpr double gamma1 = beta1 / beta_star - sigma_omega1 * kappa * kappa / root_beta_star;
inline constexpr double gamma2 = beta2 / beta_star - sigma_omega2 * kappa * kappa / root_beta_star;
/// What production of k is limited to, in times of its destruction.
inline constexpr double most_production = 20;
/// k and omega of a cell fall to no less than this share of what they were in a step: they stay positive.
inline constexpr double least_share = 0.1;

/// tanh(x) of x >= 0; the argument is cut off where the result is 1.
template <class V>
V tanh(const V& x) {
    const V zero{}, e = exp(-2.0 * min(x, zero + 20.0));
    return (1.0 - e) / (1.0 + e);
}

/// A constant of the inner layer and one of the outer, blended by F1.
template <class V>
V blended(const V& F1, double inner, double outer) {
    return F1 * (inner - outer) + outer;
}

/// The turbulent length over the distance to the wall, and the viscous sublayer's measure: arguments of F1
/// and F2.
template <class V>
struct Lengths {
    V turbulent, viscous;
    Lengths(const V& k, const V& omega, const V& nu, const V& distance)
        : turbulent(sqrt(k) / (beta_star * omega * distance)),
          viscous(500.0 * nu / (distance * distance * omega)) {}
};

/// F1: 1 in the inner layer, 0 outside. `cross` is grad k . grad omega.
template <class V>
V inner(const Lengths<V>& l, const V& k, const V& omega, const V& distance, const V& cross) {
    const V least = V{} + 1e-20;
    const V crossed = max((2 * sigma_omega2) * cross / omega, least);
    const V arg = min(max(l.turbulent, l.viscous), (4 * sigma_omega2) * k / (crossed * distance * distance)),
            square = arg * arg;
    return tanh(square * square);
}
/// F2: 1 in boundary layers, 0 outside.
template <class V>
V in_layer(const Lengths<V>& l) {
    const V arg = max(2.0 * l.turbulent, l.viscous);
    return tanh(arg * arg);
}
/// mu_t / rho = a1 k / max(a1 omega, |vorticity| F2).
template <class V>
V eddy(const V& k, const V& omega, const V& vorticity, const V& F2) {
    return a1 * k / max(a1 * omega, vorticity * F2);
}

/// Production less destruction (of omega with cross diffusion) of a unit of mass, and slopes for the implicit
/// step: of destruction, and of cross diffusion as if it were destruction; both are positive.
template <class V>
struct Source {
    V k, omega, k_slope, omega_slope;
};

/// `rate`: P / mu_t; `nu_t`: mu_t / rho.
template <class V>
Source<V> source(const V& k, const V& omega, const V& nu_t, const V& F1, const V& rate, const V& cross) {
    const V decay = beta_star * omega, beta = blended(F1, beta1, beta2);
    const V crossed = (1.0 - F1) * (2 * sigma_omega2) * cross / omega;
    return {min(nu_t * rate, most_production * decay * k) - decay * k,
            blended(F1, gamma1, gamma2) * rate - beta * omega * omega + crossed, decay,
            2.0 * beta * omega + abs(crossed) / omega};
}

}  // namespace strata::flow::sst
