// One member's values into a field file.
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

/// Writes what this member's patches have, a row of patches in memory at once. `first`: of particles, see
/// first_particles().
void write_values(const ShownFile& shown, const std::filesystem::path& path, const Simulation& run,
                  const std::vector<std::int64_t>& first);

/// Whether patches do not fill the domain (refined ones): then a file says which cells are not to be drawn.
[[nodiscard]] bool leaves_some_out(const ShownFile& shown);
[[nodiscard]] FieldArray ghosts_array(const ShownFile& shown);
/// Before patches are written: nothing is drawn. By one member.
void hide_all(const ShownFile& shown, const std::filesystem::path& path);

}  // namespace strata::graph
