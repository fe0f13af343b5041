// Bodies filled with particles.
#pragma once

#include <vector>

#include "solvers/mpm/settings.hpp"
#include "solvers/mpm/surface.hpp"

namespace strata::mpm {

/// A particle at the start. `id` depends on its place alone: cell and place in it.
struct Particle {
    std::int64_t id;
    int cell;  // in the patch, x fastest
    int body;
    Real3 X, x, v;
    Real3 stretch{1, 1, 1};
    int pulled = 0;    // by the opposite forces: -1, 1, or not
    double share = 1;  // that is in the body; 0: of a surface point
    int surface = -1;  // of a surface point: which, and its area
    Real3 area{};
};

/// The body that a point is in: the first; -1: none, or a hole.
[[nodiscard]] int body_at(const Settings& s, const Real3& x);
/// Whether a body has a particle; of a hole, whether it takes something from one. Ends where it has found
/// one.
[[nodiscard]] bool is_met(const Settings& s, int body);

/// Those that are in a patch at the start, by cell and id: at the middle of each of a cell's equal parts, if
/// that is in a body (cut: at the middle of what is in it), and surface points. (Where an exact solution
/// displaces them, from wherever they come.)
[[nodiscard]] std::vector<Particle> fill(const Settings& s, const graph::Grid& grid, int patch,
                                         const std::vector<SurfacePoint>& surface);

/// How many particles of a body are at one of its ends in x, where opposite forces pull.
[[nodiscard]] std::int64_t particles_at_end(const Settings& s, int body, bool upper);

}  // namespace strata::mpm
