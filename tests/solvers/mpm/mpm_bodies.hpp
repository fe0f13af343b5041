// Materials and bodies of the material point method, for settings that tests write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "solvers/mpm/settings.hpp"

namespace strata::mpm::tests {

inline GivenMaterial elastic(Law law, double density, double young, double poisson) {
    return {.law = law, .density = density, .young = young, .poisson = poisson};
}

inline Body box(const Real3& from, const Real3& to) { return {.a = from, .b = to}; }
inline Body sphere(const Real3& centre, double radius) {
    return {.shape = Body::Shape::sphere, .radius = radius, .centre = centre};
}
inline Body cylinder(const Real3& from, const Real3& to, double radius) {
    return {.shape = Body::Shape::cylinder, .a = from, .b = to, .radius = radius};
}

inline GivenWall wall(const std::string& side, Wall kind, const Real3& velocity = {}) {
    GivenWall wall{.kind = kind, .velocity = velocity};
    for (const graph::Named<int>& each : kWallSides)
        if (side == each.name) wall.side = each.value;
    return wall;
}

/// Gives bodies their first velocities.
inline void move(Settings& s, const std::vector<Real3>& velocities) {
    for (std::size_t i = 0; i < velocities.size(); ++i) s.bodies[i].velocity = velocities[i];
}

/// Gives bodies their groups.
inline void group(Settings& s, const std::vector<std::int64_t>& groups) {
    for (std::size_t i = 0; i < groups.size(); ++i) s.bodies[i].group = groups[i];
}

}  // namespace strata::mpm::tests
