// Contact of bodies that have velocity fields of their own: what happens to the fields at a grid point that
// several of them reach (Bardenhagen, Brackbill and Sulsky, Comput. Methods Appl. Mech. Eng. 187 (2000) 529).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "solvers/mpm/particles.hpp"

namespace strata::mpm {

/// A body's share of a grid point.
struct Touching {
    Real mass;
    std::array<Real, 3> velocity, gradient;  // gradient: sum of m grad w, outwards
    double density;                          // undeformed
    int group;
    std::array<Real, 3> before{};  // the velocity at the beginning of the step
};

/// Two bodies at a grid point. Where they approach along the normal, the difference of their velocities in
/// that direction goes, and of the difference across it as much as Coulomb's law lets friction take: what
/// sticks gets one velocity, what slips loses `friction` times the normal part (eqs. 22 to 28). Momentum is
/// exchanged between the two alone. The normal is that of the first body, the one of the lower group, unless
/// it has hardly any there: mixed normals would let the edge of one body plough through the face of another
/// (Nairn, Comput. Model. Eng. Sci. 92 (2013) 271, section 3.2 compares choices). Returns whether they
/// touched. `rubbed` grows by the energy that friction takes, in J: its impulse times the mean of how fast
/// the two slid on each other before and slide now.
inline bool touch(Touching& a, Touching& b, double friction, Real& rubbed) {
    const auto length = [](const std::array<Real, 3>& x) {
        return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    };
    const Real of_a = length(a.gradient), of_b = length(b.gradient);
    std::array<Real, 3> normal{}, apart{};  // from a to b
    const bool first = of_a * b.density >= 0.1 * of_b * a.density;
    const Real size = first ? of_a : -of_b;
    if (size == 0) return false;
    Real approach = 0;
    for (std::size_t c = 0; c < 3; ++c) {
        normal[c] = (first ? a.gradient[c] : b.gradient[c]) / size;
        apart[c] = a.velocity[c] - b.velocity[c];
        approach += apart[c] * normal[c];
    }
    if (!(approach > 0)) return false;
    for (std::size_t c = 0; c < 3; ++c) apart[c] -= approach * normal[c];
    const Real slip = length(apart), most = friction * approach;
    const Real held = slip > most ? most / slip : 1;
    const Real share = b.mass / (a.mass + b.mass);
    for (std::size_t c = 0; c < 3; ++c) {
        const Real change = approach * normal[c] + held * apart[c];
        a.velocity[c] -= share * change;
        b.velocity[c] += (1 - share) * change;
    }
    if (friction > 0) {
        Real slides = 0;
        for (std::size_t c = 0; c < 3; ++c)
            slides += apart[c] * (a.before[c] - b.before[c] + (1 - held) * apart[c]);
        rubbed += 0.5 * held * share * a.mass * slides;
    }
    return true;
}

/// All bodies at a grid point, two by two in their order; where there are more than two, several times.
inline bool touch_all(Touching* at, int count, double friction, Real& rubbed) {
    bool any = false;
    for (int round = 0; round < (count > 2 ? 4 : 1); ++round)
        for (int a = 0; a < count; ++a)
            for (int b = a + 1; b < count; ++b) any = touch(at[a], at[b], friction, rubbed) || any;
    return any;
}

}  // namespace strata::mpm
