// The start: the processes of a plan, and this process becoming the program.
#pragma once

#include "core/launch/launch.hpp"

namespace strata::launch {

/// The processes to start, each with its words, its environment, its PUs and its memories.
std::vector<Process> processes_for(const Plan& plan, const Request& request);

/// The command of a reader of this run on each node of a job of Slurm's (node_readback.hpp).
std::vector<std::string> node_reader(const Plan& plan, const Request& request);

/// This process becomes the program, bound as the plan says, and nothing of the launcher remains. Throws
/// Error where the system refuses.
[[noreturn]] void become_program(const Plan& plan, const Request& request);

}  // namespace strata::launch
