// The keeper of one rank. The process that mpirun or srun started becomes the keeper; the member is its
// child.
//
// The keeper sees the end of the member and tells the others before MPI's launcher ends them; it leaves no
// process behind. It also holds the lines to other nodes while the member computes. The keeper of a node's
// first member is its head: the others of the node have a line to it, and the heads have lines to each other
// (heads.hpp). A keeper uses no MPI and sleeps until an event.
#pragma once

#include <string>
#include <vector>

#include "core/team/team.hpp"

namespace strata::team {

/// Starts the member, and stays until it and all others of the team have ended. Returns the exit status: that
/// of the member that was lost first, else this member's. Where a signal told the run to end: this member's
/// status, or 128 + signal where that is 0.
int keep_rank(const std::vector<std::string>& arguments, const Options& options);

/// The data in the member's environment: its line to the keeper, and the keeper's process number.
struct KeeperLink {
    int line = -1, keeper = 0;
};
[[nodiscard]] KeeperLink parse_keeper_link(const std::string& word);

}  // namespace strata::team
