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

}  // namespace strata::geometry
