// Neutral map files (.nmf; GEOLAB's V2k, read by CFL3D and FUN3D): the faces of a grid's zones.
//
//   1                                                          zones
//   1  2  225  65                                              zone, IDIM, JDIM, KDIM
//   'viscous_solid'  1  1   1 2   49 177                       name, zone, face, range of its first and
//   second index 'one-to-one'     1  1   1 2   1 49    1 1  1 2  225 177  false
//
// Faces 1, 2: k-min, k-max, indices i, j; 3, 4: i-min, i-max, indices j, k; 5, 6: j-min, j-max, indices k, i.
// "true" at the end: the first index of one face lies along the second one of the other. Text after ! or #
// and a backslash at the end of a line mean nothing.
#pragma once

#include <filesystem>
#include <string>

#include "methods/curvilinear/grid.hpp"

namespace strata::flow {

/// Adds boundaries and joins of a map file to a system that has its source. `across`: of a two-dimensional
/// grid, the axis that the map has and the grid has not (0 to 2); it is found from the sizes where it is -1.
/// Conditions on faces across it are left out. Throws Error with file and line.
void read_map(const std::filesystem::path& path, GridSystem& system, int across = -1);

/// The text of one, in three dimensions and in the indices of the grid's own file; a two-dimensional grid
/// gets IDIM = 2, as NASA's have it.
[[nodiscard]] std::string map_text(const GridSystem& system);
/// Writes it: whole, or not at all. Throws Error where that fails.
void write_map(const std::filesystem::path& path, const GridSystem& system);

}  // namespace strata::flow
