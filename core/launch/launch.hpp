// A launch from beginning to end: what is asked, what follows from it, and doing it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/launch/around.hpp"
#include "core/launch/mpi.hpp"
#include "core/launch/placement.hpp"
#include "core/launch/program.hpp"
#include "core/launch/supervise.hpp"
#include "core/launch/text_pages.hpp"
#include "core/machine/machine.hpp"

namespace strata::launch {

struct Request {
    Wish wish;
    std::vector<std::string> command;
    Watch watch;
    Limits limits;  // what is asked; the plan adds the PUs and memories
    Text text = Text::as_is;
    std::string machine = "system";      // another one, described, for a dry run
    std::optional<std::string> as_rank;  // the placement that the outer launcher chose, see encode()
    bool explain = false, dry_run = false;
    bool mpi = false;   // a program that can be both: by its MPI's mpirun, not as a team of one node
    bool json = false;  // of a dry run
};

enum class How {
    become,  // this process binds itself and becomes the program
    mpirun,  // the program's MPI starts P launchers, each of which becomes the program
    team,    // the program starts its members itself: it is started once
    around,  // the command is an mpirun or srun: the same, with the user's options
    copies   // P copies, each with its rank in STRATA_RANK
};

/// Everything that has been decided before anything happens.
struct Plan {
    How how = How::become;
    Program program;
    machine::Machine machine;  // empty in a rank that was given its placement
    Placement placement;
    std::optional<Mpirun> mpirun;
    std::optional<Around> around;
    int rank = 0, size = 1;  // of this process, when it becomes the program
    int index = 0;           // which process of the placement it is
    long cores = 0;          // that may be used
    bool supervised = false;
    std::vector<int> text_memories;  // where the program's text goes; empty: as it is
    Job job;
};

/// Throws Error for a command that is not there, a layout that does not fit, a program whose MPI has no
/// mpirun, an inherited binding that contradicts the layout.
Plan make_plan(const Request& request);

/// What the plan means, for --explain and --dry-run.
std::string describe(const Plan& plan, const Request& request);

/// The same for scripts: the document strata.placement/1.
std::string describe_json(const Plan& plan, const Request& request);

/// Carries the plan out. Returns the exit status, or not at all when this process becomes the program.
int carry_out(const Plan& plan, const Request& request);

}  // namespace strata::launch
