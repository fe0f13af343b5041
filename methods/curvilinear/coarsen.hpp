// Coarser grids of a family: every second, fourth, ... node.
#pragma once

#include "methods/curvilinear/grid.hpp"

namespace strata::flow {

/// The grid of every `factor`th node of a grid that is cut, with the same names, boundaries and joins. Throws
/// Error with zone and axis where the cells of a zone, or of a part of a face, are no multiple of it.
[[nodiscard]] GridSystem coarsened(const GridSystem& fine, int factor);

}  // namespace strata::flow
