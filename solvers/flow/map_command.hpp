// The neutral map file of a grid that has none: what `strata overset map` starts.
#pragma once

#include <filesystem>

#include "methods/curvilinear/read.hpp"

namespace strata::flow {

/// Finds joins and collapsed faces of a grid, writes them as a map file with all other faces as boundaries to
/// be named ("1:j-min"), and prints where these lie. Faces that only a turn takes onto each other are left
/// out: a map cannot say them, grid.turn of a case does. Throws Error where the file is there already, and
/// those of read_grid().
void write_found_map(const GridFiles& files, const std::filesystem::path& to);

}  // namespace strata::flow
