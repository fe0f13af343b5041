// The facets of a side of a patch of cells.
#pragma once

#include <vector>

#include "core/graph/declare/zones.hpp"
#include "methods/geometry/facet.hpp"

namespace strata::geometry {

/// Along which diagonal a quadrilateral is divided into two triangles.
enum class Diagonal {
    /// From the corner with the lowest indices to that with the highest ones, on all faces.
    same,
    /// The shorter one, where its corners lie in a plane. Others are four triangles around the mean of their
    /// corners, above which the centre of the first cell lies.
    shorter
};

/// Adds the facets of one side of a patch of these cells. `nodes`: of the patch; in two dimensions those with
/// k = 0. With Diagonal::same, segments without length are left out.
void add_side(int dimensions, const graph::Box& cells, const graph::Face& face,
              const graph::FieldView<const double>& nodes, Diagonal diagonal, std::vector<Facet>& facets);

}  // namespace strata::geometry
