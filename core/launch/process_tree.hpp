// Ending all processes below this one, whatever they did to get away.
#pragma once

#include <vector>

namespace strata::launch {

/// Makes this process the one to which orphans below it are given (PR_SET_CHILD_SUBREAPER), so that none can
/// leave the tree: setsid and double forks change session and parent, not that.
void adopt_orphans();

/// A child that has ended, as waitpid gives it.
struct Ended {
    int pid = 0;
    int status = 0;
};

/// Collects children that have ended; does not wait.
std::vector<Ended> collect_ended();

/// Stops, then kills, then collects every process below this one until none is left. Stopped first, so that
/// none can fork faster than it is found. Returns the pids that would not die within `patience_s` (state D,
/// e.g. on a dead NFS server): they have been sent SIGKILL and end when the kernel lets them.
std::vector<int> end_all_descendants(double patience_s = 10);

}  // namespace strata::launch
