// Processes below this one: starting them so that they end with it, stopping them, and ending all of them,
// whatever they did to get away.
#pragma once

#include <functional>
#include <vector>

namespace strata::launch {

/// Makes this process the one to which orphans below it are given (PR_SET_CHILD_SUBREAPER), so that none can
/// leave the tree: setsid and double forks change session and parent, not that.
void adopt_orphans();

/// In a new process: it is killed with its parent (PR_SET_PDEATHSIG), also when that is killed by SIGKILL,
/// and ends at once when the parent has gone already. `parent`: its number, taken before the fork.
void end_with_parent(int parent);

/// In a new process: standard input is empty.
void close_input();

struct Started {
    int pid = -1;   // -1: there is none
    int error = 0;  // errno of what failed; 0: the process has become the program
};

/// Forks a process that ends with this one and calls `enter` in it, which becomes the program or returns
/// errno. Waits until either is known. `report`: a pipe that closes on exec; both ends are closed here.
Started start_process(const int report[2], const std::function<int()>& enter);

/// A child that has ended, as waitpid gives it.
struct Ended {
    int pid = 0;
    int status = 0;
};

/// Collects children that have ended; does not wait.
std::vector<Ended> collect_ended();

/// A status of waitpid as shells give it: the exit status, or 128 + signal.
int exit_status(int status);

/// Ctrl-Z: all processes below this one stop with it and go on with it.
void stop_with_descendants();

/// Stops, then kills, then collects every process below this one, but for `spared`, until none is left.
/// Stopped first, so that none can fork faster than it is found. Returns the pids that would not die within
/// `patience_s` (state D, e.g. on a dead NFS server): they have been sent SIGKILL and end when the kernel
/// lets them.
std::vector<int> end_all_descendants(double patience_s = 10, int spared = 0);

/// The same, with a note on standard error for each that would not die.
void end_process_tree(int spared = 0);

}  // namespace strata::launch
