// Metal-like solids: von Mises (J2) plasticity with linear isotropic hardening at finite strains, eight
// particles at once.
//
// What is kept of a particle is its elastic left Cauchy-Green tensor b and its equivalent plastic strain
// alpha. A step's gradient f carries b along elastically, f b f^T; if the stress that follows is beyond the
// yield surface, it returns to it along the radius, in the principal axes of b (Simo, Comput. Methods Appl.
// Mech. Eng. 99 (1992) 61; Simo and Hughes, Computational Inelasticity, 1998, chapter 9 for finite strains
// and box 3.1 for the radial return). The energy is Hencky's, quadratic in logarithms of the stretches, so
// the return is that of small strains, and plastic flow keeps the volume exactly.
#pragma once

#include "solvers/mpm/material.hpp"

namespace strata::mpm {

/// What a plastic particle remembers.
struct PlasticState {
    Symmetric b;  // elastic left Cauchy-Green tensor
    Lanes alpha;  // equivalent plastic strain
};

struct PlasticStress {
    Symmetric kirchhoff;
    Lanes energy;   // elastic, per undeformed volume
    Lanes work;     // that plastic flow has taken up until now: sigma_y alpha + H/2 alpha^2
    Lanes squares;  // of the elastic stretches, their sum: waves' speed follows from it
};

namespace detail {

/// Eigenvalues and -vectors (columns: axis[3 i + a] is component i of the a-th) of symmetric tensors by
/// Jacobi's rotations (Golub and Van Loan, Matrix Computations, 4th ed. 2013, section 8.5).
inline void principal(const Symmetric& of, Lanes (&value)[3], Tensor& axis) {
    Lanes d[3] = {of[0], of[1], of[2]};
    Lanes off[3] = {of[4], of[5], of[3]};  // off[k]: of the two directions other than k
    for (std::size_t c = 0; c < 9; ++c) axis[c] = broadcast(c % 4 == 0 ? 1 : 0);
    for (int sweep = 0; sweep < 8; ++sweep) {
        const Lanes rest = off[0] * off[0] + off[1] * off[1] + off[2] * off[2];
        const Lanes size = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        const LaneInts more = rest > 1e-34 * size;
        bool done = true;
        for (int l = 0; l < kLanes; ++l) done = done && more[l] == 0;
        if (done) break;
        for (std::size_t k = 0; k < 3; ++k) {
            const std::size_t p = (k + 1) % 3, q = (k + 2) % 3;
            const Lanes apart = d[q] - d[p], twice = 2.0 * off[k];
            // The smaller of both angles; where nothing is to be turned the tangent is 0.
            const Lanes signed_twice = select(apart < 0.0, -twice, twice);
            const Lanes t = signed_twice / (abs(apart) + sqrt(apart * apart + twice * twice) + 1e-150);
            const Lanes c = 1.0 / sqrt(t * t + 1.0), s = t * c;
            d[p] -= t * off[k], d[q] += t * off[k];
            off[k] = Lanes{};
            const Lanes op = off[q], oq = off[p];  // of (p, k) and (q, k)
            off[q] = c * op - s * oq, off[p] = s * op + c * oq;
            for (std::size_t i = 0; i < 3; ++i) {
                const Lanes vp = axis[3 * i + p], vq = axis[3 * i + q];
                axis[3 * i + p] = c * vp - s * vq, axis[3 * i + q] = s * vp + c * vq;
            }
        }
    }
    for (std::size_t a = 0; a < 3; ++a) value[a] = d[a];
}

/// sum over a of value[a] n_a n_a^T.
inline Symmetric assembled(const Lanes (&value)[3], const Tensor& axis) {
    Symmetric s{};
    for (std::size_t a = 0; a < 3; ++a) {
        const Lanes x = axis[a], y = axis[3 + a], z = axis[6 + a];
        const Lanes vx = value[a] * x, vy = value[a] * y;
        s[0] += vx * x, s[1] += vy * y, s[2] += value[a] * z * z;
        s[3] += vx * y, s[4] += vy * z, s[5] += vx * z;
    }
    return s;
}

/// flow() of a block that yields, after three of Jacobi's sweeps: both depend on the strains. Blocks that do
/// not yield save 165, a sweep more or less is 115.
constexpr double flow_operations() {
    constexpr double kSweeps = 3, kTurn = 38, kFirst = 4;  // in the first sweep nothing is zero yet
    constexpr double kLastCheck = 10, kCheck = 10.0 / 8,
                     kFirstCheck = 12.0 / 8;  // of one lane: the first that goes on
    constexpr double kLogarithm = 28, kExponential = 35, kAssembled = 39;
    // f b f^T 75; logarithms of stretches and their deviator 3 + 8, its length 1, excess 5, slip 2, whether
    // any lane yields; stress 9, energy 4, work 3.
    double flops = 75 + kSweeps * 3 * kTurn + kFirst + kFirstCheck + (kSweeps - 1) * kCheck + kLastCheck;
    flops += 3 * (kLogarithm + 1) + 19 + 1.0 / 8 + kAssembled + 16;
    // The return: a share 2, of each axis 4 and an exponential; which lanes 1, alpha 2, squares 5.
    return flops + 2 + 3 * (4 + kExponential) + kAssembled + 8;
}

/// f b f^T.
inline Symmetric carried(const Tensor& f, const Symmetric& b) {
    const Lanes full[9] = {b[0], b[3], b[5], b[3], b[1], b[4], b[5], b[4], b[2]};
    Tensor g;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            g[3 * i + j] = f[3 * i] * full[j] + f[3 * i + 1] * full[3 + j] + f[3 * i + 2] * full[6 + j];
    const auto dot = [&](std::size_t i, std::size_t j) {
        return g[3 * i] * f[3 * j] + g[3 * i + 1] * f[3 * j + 1] + g[3 * i + 2] * f[3 * j + 2];
    };
    return {dot(0, 0), dot(1, 1), dot(2, 2), dot(0, 1), dot(1, 2), dot(2, 0)};
}

}  // namespace detail

/// The step f of a deformation: changes the state, returns the stress after it. With e = ln(b_a) / 2 of the
/// principal values b_a: tau_a = lambda tr e + 2 mu e_a; elastic where |dev tau| <= sqrt(2/3) (sigma_y + H
/// alpha), otherwise dev tau shrinks to that, by 2 mu dgamma with dgamma = excess / (2 mu + 2 H / 3), and
/// alpha grows by sqrt(2/3) dgamma.
inline PlasticStress flow(const Material& m, const Tensor& f, PlasticState& state) {
    constexpr double kRoot23 = 0.81649658092772603;
    state.b = detail::carried(f, state.b);
    Lanes b[3], e[3];
    Tensor axis;
    detail::principal(state.b, b, axis);
    for (std::size_t a = 0; a < 3; ++a) e[a] = 0.5 * log(b[a]);
    const Lanes trace = e[0] + e[1] + e[2], mean = trace / 3.0;
    Lanes squares{};
    for (Lanes& d : e) d -= mean, squares += d * d;
    const Lanes length = sqrt(squares);  // of the strain's deviator
    const Lanes excess = (2 * m.mu) * length - kRoot23 * (m.yield + m.hardening * state.alpha);
    const Lanes slip = max(excess, Lanes{}) / (2 * m.mu + 2 * m.hardening / 3);
    bool yields = false;
    for (int l = 0; l < kLanes; ++l) yields = yields || slip[l] > 0;
    if (yields) {
        const Lanes share = slip / (length + 1e-300);
        for (std::size_t a = 0; a < 3; ++a) {
            const Lanes back = share * e[a];
            b[a] *= exp(-2.0 * back);
            e[a] -= back;
        }
        const Symmetric flowed = detail::assembled(b, axis);
        const LaneInts flows = slip > 0.0;  // lanes that did not yield keep their bits
        for (std::size_t c = 0; c < 6; ++c) state.b[c] = select(flows, flowed[c], state.b[c]);
        state.alpha += kRoot23 * slip;
        squares = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
    }
    PlasticStress found;
    Lanes tau[3];
    const double bulk = m.lambda + 2 * m.mu / 3;
    for (std::size_t a = 0; a < 3; ++a) tau[a] = bulk * trace + (2 * m.mu) * e[a];
    found.kirchhoff = detail::assembled(tau, axis);
    found.energy = (0.5 * bulk) * trace * trace + m.mu * squares;
    found.work = state.alpha * (m.yield + (0.5 * m.hardening) * state.alpha);
    found.squares = state.b[0] + state.b[1] + state.b[2];
    return found;
}

/// Stress of a material that remembers something, after a step of length dt to the deformation gradient F; f:
/// of the step alone. Laws with a memory are chosen here, by m.law: today there is one.
inline PlasticStress remembered(const Material& m, const Tensor& /*F*/, const Tensor& f, double /*dt*/,
                                PlasticState& state) {
    return flow(m, f, state);
}

/// Operations of remembered(), counted by hand for profiles.
constexpr double operations_with_memory(Law) { return detail::flow_operations(); }

}  // namespace strata::mpm
