// Files of shapes (core/run/output/shapes.hpp): their layout, and one member's values.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "core/run/driver/showing.hpp"

namespace strata::graph {

/// Of a shape of lists: where each patch's points, cells and connectivity begin in the file, and at the end
/// the sums. Collective. Throws Error where a number of points or cells cannot be, after `undo`.
[[nodiscard]] std::vector<FieldCounts> first_of_patches(const ShownFile& shown, const Simulation& run,
                                                        team::Team& team, const std::function<void()>& undo);

/// Lays the file out and writes what no patch has of its own, e.g. the types of cells that all have one. By
/// one member. `first`: of a shape of lists, see first_of_patches().
void create_shape(const ShownFile& shown, const std::filesystem::path& path, const Graph& graph,
                  const std::vector<FieldCounts>& first, double time);

/// Writes the values of this member's patches. Throws Error where cells name points that their patch does not
/// have, or do not fit their types: with patch, what was found and what is allowed.
void write_shape(const ShownFile& shown, const std::filesystem::path& path, const Simulation& run,
                 const std::vector<FieldCounts>& first);

}  // namespace strata::graph
