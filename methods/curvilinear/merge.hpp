// Several grids as one system of zones: those of a case with meshes that overlap.
#pragma once

#include <string>
#include <vector>

#include "methods/curvilinear/grid.hpp"

namespace strata::flow {

/// A grid and its name, which its zones' names and its boundaries' names begin with: "ring-farfield".
struct NamedGrid {
    std::string name;
    GridSystem grid;
};

/// The zones of all, one grid after the other, each a mesh of its own (GridSystem::mesh). Throws Error where
/// one has another number of dimensions than the first.
[[nodiscard]] GridSystem merged(std::vector<NamedGrid> grids);

}  // namespace strata::flow
