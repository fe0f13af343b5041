// A launch from beginning to end, as a line: what is started (target.hpp), the machine, the placement
// (placement.hpp), the memory (memory_policy.hpp), the start (start.hpp). Each is asked once.
#pragma once

#include <string>
#include <vector>

#include "core/launch/placement.hpp"
#include "core/launch/request.hpp"
#include "core/launch/supervise.hpp"
#include "core/launch/target.hpp"
#include "core/machine/machine.hpp"

namespace strata::launch {

/// Everything that has been decided before anything happens.
struct Plan {
    Target target;
    machine::Machine machine;  // empty in a rank that was given its placement
    long cores = 0;            // that may be used; 0 in a rank
    Placement placement;
    std::vector<int> text_memories;  // where the program's text goes; empty: as it is
    Job job;
    bool supervised = false;
};

/// Throws Error for what target_of() and place() refuse, and for a binding or memory policy that was
/// inherited and contradicts what is asked.
Plan make_plan(const Request& request);

/// The plan in words and tables, for --explain and --dry-run.
std::string describe(const Plan& plan, const Request& request);

/// The same for scripts: the document strata.placement/1.
std::string describe_json(const Plan& plan, const Request& request);

/// A reader of the run with this mark, on one of its nodes (node_readback.hpp). Returns the exit status.
int read_node(const Request& request, const std::string& mark);

/// Carries the plan out. Returns the exit status, or not at all when this process becomes the program.
int carry_out(const Plan& plan, const Request& request);

}  // namespace strata::launch
