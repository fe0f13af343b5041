// A launch from beginning to end: what is asked, what follows from it, and doing it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/launch/layout.hpp"
#include "core/launch/mpi.hpp"
#include "core/launch/program.hpp"
#include "core/launch/supervise.hpp"

namespace strata::launch {

struct Request {
    Layout layout;
    std::vector<std::string> command;
    Watch watch;
    std::optional<std::string> as_rank;  // the placement that the outer launcher chose, see encode()
    bool explain = false, dry_run = false;
};

enum class How {
    become,  // this process binds itself and becomes the program
    mpirun,  // the program's MPI starts P launchers, each of which becomes the program
    copies   // P copies, each with its rank in STRATA_RANK
};

/// Everything that has been decided before anything happens.
struct Plan {
    How how = How::become;
    Program program;
    Placement placement;
    std::optional<Mpirun> mpirun;
    int rank = 0, size = 1;  // of this process, when it becomes the program
    int index = 0;           // which process of the placement it is
    long cores = 0;          // that may be used
    bool supervised = false;
    Job job;
};

/// Throws Error for a command that is not there, a layout that does not fit, a program whose MPI has no
/// mpirun.
Plan make_plan(const Request& request);

/// What the plan means, for --explain and --dry-run.
std::string describe(const Plan& plan, const Request& request);

/// Carries the plan out. Returns the exit status, or not at all when this process becomes the program.
int carry_out(const Plan& plan, const Request& request);

/// A placement as one word, for the launcher's own ranks, so that they need not read the topology again:
/// processes by ';', threads by ':', each a CPU list.
std::string encode(const Placement& placement);
Placement decode(const std::string& word, const Layout& layout);

}  // namespace strata::launch
