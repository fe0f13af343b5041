// A command over several nodes: as a step of Slurm.
#pragma once

#include <string>
#include <vector>

#include "core/launch/layout.hpp"

namespace strata::launch {

/// The command with srun in front of it: so many processes on so many nodes, with the way in which srun lets
/// ranks of the program's MPI find each other. With 16 processes on 4 nodes:
///     srun --nodes=4 --ntasks=16 --distribution=block --input=0 --kill-on-bad-exit=1 --mpi=pmix ./a.out
/// Inside a job it is a step of this; outside one srun asks for an allocation of whole nodes. Where the file
/// SLURM_HOSTFILE names the node of each rank, `--distribution=arbitrary` has srun follow it. With `label`
/// each line of output begins with its rank. Throws Error where there is no srun, where the command is
/// already a launcher's, and where there are fewer processes than nodes.
std::vector<std::string> over_nodes(const std::vector<std::string>& command, int nodes, const Layout& layout,
                                    bool label);

}  // namespace strata::launch
