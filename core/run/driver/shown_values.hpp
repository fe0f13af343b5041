// Writes one member's values to a field file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/run/driver/showing.hpp"

namespace strata::graph {

/// [patch] -> the place of its first particle, and the number of all at the end. The order is that of
/// patches, so a file is the same for every layout. Collective.
[[nodiscard]] std::vector<std::int64_t> first_particles(const ShownFile& shown, const Simulation& run,
                                                        team::Team& team);

/// Writes the values of this member's patches, with a row of patches in memory at once. `first`: for
/// particles, see first_particles().
void write_values(const ShownFile& shown, const std::filesystem::path& path, const Simulation& run,
                  const std::vector<std::int64_t>& first);

/// Whether patches leave parts of the domain out (refined grids). Then the file marks the cells that are not
/// drawn.
[[nodiscard]] bool leaves_some_out(const ShownFile& shown);
[[nodiscard]] FieldArray ghosts_array(const ShownFile& shown);
/// Marks all cells as not drawn, before patches are written. By one member.
void hide_all(const ShownFile& shown, const std::filesystem::path& path);

}  // namespace strata::graph
