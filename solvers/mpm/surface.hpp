// Surfaces of bodies under pressure or traction: points without mass and volume that carry the force of their
// part of the surface, and move with the body.
#pragma once

#include <vector>

#include "solvers/mpm/settings.hpp"

namespace strata::mpm {

/// A part of a loaded surface, undeformed. `area` (m2) points away from the axis or centre of a cylinder or
/// sphere, and to larger coordinates on a rectangle.
struct SurfacePoint {
    Real3 x{}, area{};
    int surface = 0, body = 0;
};

/// Those of all surfaces of the case that are in the domain and on a body: at distances of half a particle.
[[nodiscard]] std::vector<SurfacePoint> surface_points(const Settings& s);

/// The share of the loads on surfaces that acts at time t: grows over loads.rise as (1 - cos(pi t/rise))/2.
[[nodiscard]] double load_share(const Settings& s, double t);

/// The force on a point (N): its pressure on the area as it is now, J F^-T A (Nanson's formula: Bonet and
/// Wood, Nonlinear Continuum Mechanics for Finite Element Analysis, 2nd ed. 2008, eq. 4.68), and its traction
/// on the undeformed one. F row by row.
[[nodiscard]] Real3 surface_force(const Surface& surface, const double (&F)[9], const Real3& area,
                                  double share);

}  // namespace strata::mpm
