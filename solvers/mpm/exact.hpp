// Problems with exact solutions: a bar's first axial mode, a bar that hits a wall, and manufactured
// solutions, whose derivation is docs/mpm.md (checked by tests/solvers/mpm/test_mpm.cpp).
#pragma once

#include "solvers/mpm/settings.hpp"

namespace strata::mpm {

/// Of an exact problem: displacement and velocity of the point X at time t, its stretches (a deformation
/// gradient that is diagonal; a vortex's is 1 at time 0, when alone it is asked for), and the body force per
/// mass that keeps it going (m/s2).
struct Motion {
    Real3 u{}, v{}, stretch{1, 1, 1}, force{};
};
[[nodiscard]] Motion exact_motion(const Settings& s, const Real3& X, double t);

/// The displacement, in m, of which errors are a share.
[[nodiscard]] double exact_displacement(const Settings& s);

}  // namespace strata::mpm
