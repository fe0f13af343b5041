// Files of shapes (core/run/output/shapes.hpp): their layout, and one member's values.
#pragma once

#include <filesystem>

#include "core/run/driver/showing.hpp"

namespace strata::graph {

/// Lays the file out and writes what no patch has of its own, e.g. the types of cells that all have one. By
/// one member.
void create_shape(const ShownFile& shown, const std::filesystem::path& path, const Graph& graph, double time);

/// Writes the values of this member's patches. Throws Error where cells name points that their patch does not
/// have, or do not fit their types: with patch, what was found and what is allowed.
void write_shape(const ShownFile& shown, const std::filesystem::path& path, const Simulation& run);

}  // namespace strata::graph
