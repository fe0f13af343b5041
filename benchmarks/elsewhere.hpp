// The benchmarks of strata-bench-graph, a program of its own, so that strata-bench is built without teams,
// graphs and solvers: their names and lines are known to all, since `strata bench --list` has all benchmarks.
#pragma once

#include <array>

namespace strata::bench {

/// A benchmark's name, and what it is in a line.
struct Named {
    const char* name;
    const char* summary;
};

namespace of_graph {
inline constexpr Named kBarrier = {
    "team-barrier", "a team's barrier, or that of POSIX, C++ or OpenMP, of any number of members"};
inline constexpr Named kFlag = {"team-flag",
                                "a flag from process to process, through the arena and as a bare cache line"};
inline constexpr Named kRead = {"team-read",
                                "an array that a neighbour has just written, read in place or copied"};
inline constexpr Named kSwitch = {"team-switch", "a core that goes from one process's crew to another's"};
inline constexpr Named kDeath = {"team-death",
                                 "how long it takes until all members know that one was killed"};
inline constexpr Named kTasks = {"graph-tasks", "tasks of a graph: what the executor takes for each"};
inline constexpr Named kCompile = {"graph-compile", "a graph made ready to run: how long it takes, by size"};
inline constexpr Named kSweep = {"graph-sweep",
                                 "Gauss-Seidel sweeps over patches: how busy the threads of a pipeline are"};
inline constexpr Named kBalance = {"graph-balance",
                                   "patches of unequal cost that move: a step beside the ideal"};
inline constexpr Named kOverset = {"graph-overset",
                                   "a grid that turns over another: what other donors in each step cost"};
inline constexpr Named kUpdate = {"transport-update",
                                  "the transport solver's update beside the triad of the same memory"};
}  // namespace of_graph

inline constexpr std::array kOfGraph = {of_graph::kBarrier, of_graph::kFlag,  of_graph::kRead,
                                        of_graph::kSwitch,  of_graph::kDeath, of_graph::kTasks,
                                        of_graph::kCompile, of_graph::kSweep, of_graph::kBalance,
                                        of_graph::kOverset, of_graph::kUpdate};

}  // namespace strata::bench
