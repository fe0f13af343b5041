// The facets that surfaces consist of: triangles, in two dimensions segments.
#pragma once

#include <array>

#include "methods/geometry/bounds.hpp"
#include "methods/geometry/points.hpp"

namespace strata::geometry {

/// A triangle, or a segment: two corners, the third is the second.
using Facet = std::array<Real3, 3>;

[[nodiscard]] inline Bounds bounds_of(const Facet& facet) {
    Bounds box;
    for (const Real3& corner : facet) box.add(corner);
    return box;
}
/// Where it lies, three times: the sum of its corners.
[[nodiscard]] inline Real3 place_of(const Facet& f) {
    return {f[0][0] + f[1][0] + f[2][0], f[0][1] + f[1][1] + f[2][1], f[0][2] + f[1][2] + f[2][2]};
}

/// The square of the distance from a point to a facet, also to one that is collapsed: by its edges and its
/// plane (Ericson, Real-Time Collision Detection, 2005, 5.1.5).
[[nodiscard]] double squared_distance(const Real3& x, const Facet& facet);

/// The point of a facet that is nearest to x: by its coordinates in the plane, or on the edges. (The distance
/// to it differs from squared_distance() by rounding, and the recorded bits of distances and of places over
/// walls rest on one each.)
[[nodiscard]] Real3 nearest_point(const Real3& x, const Facet& facet);

}  // namespace strata::geometry
