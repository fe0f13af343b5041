// The small parent of a team. It starts the members, agrees with them on the arena's address, tells the
// others when one is gone, and leaves no process behind.
#pragma once

#include <string>
#include <vector>

#include "core/team/team.hpp"

namespace strata::team {

/// Runs the team of this program to its end. Returns the exit status of the first member to fail: 128 +
/// signal when it was killed, 1 when it left its team alone with status 0. No process below this one is alive
/// then.
int look_after(const std::vector<std::string>& arguments, const Options& options);

/// The layout from the options, or else from STRATA_LAYOUT, STRATA_BIND and STRATA_STRIDE; without both, one
/// member for each core. Throws Error.
[[nodiscard]] launch::Layout layout_for(const Options& options, long cores);

/// The placement that `strata launch` has chosen for this program, else the one that follows from the layout.
/// Throws Error, also where the two disagree.
[[nodiscard]] launch::Placement placement_for(const machine::Machine& machine, const launch::Layout& layout);

/// Refuses several copies started by `strata launch`, mpirun or srun, since each would start a team of its
/// own. Throws Error, in the first copy at once.
void refuse_copies();

}  // namespace strata::team
