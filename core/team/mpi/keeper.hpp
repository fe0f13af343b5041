// The keeper of one rank: the process that mpirun or srun started becomes the keeper, and the member is its
// child.
//
// The keeper learns how the member ended, tells the others before MPI's launcher ends them, and leaves
// nothing behind. It also holds the line to the other nodes while the member computes. The keeper of a node's
// first member is its head: the others of the node have a line to it, and the heads to each other
// (heads.hpp). A keeper uses no MPI and sleeps until something happens.
#pragma once

#include <string>
#include <vector>

#include "core/team/team.hpp"

namespace strata::team {

/// Starts the member, stays until it and all others of the team have ended. Returns the exit status: the
/// member's, or where that is 0, that of the member that was lost first.
int keep_rank(const std::vector<std::string>& arguments, const Options& options);

/// The facts that the member finds in its environment: its line to the keeper, and the keeper's process
/// number.
struct KeeperLink {
    int line = -1, keeper = 0;
};
[[nodiscard]] KeeperLink parse_keeper_link(const std::string& word);

}  // namespace strata::team
