// Bindings and policies of a launcher around this one that contradict the request.
#pragma once

#include <string>
#include <vector>

#include "core/launch/layout.hpp"
#include "core/launch/mpi.hpp"

namespace strata::launch {

/// A memory policy that was set around the launcher (numactl) and another that is asked of it. Throws Error.
/// `machine`: where it is to be; another than "system" inherits nothing.
void refuse_contradicting_policy(const MemoryWish& wish, const std::string& machine);

/// Under another launcher (mpirun -n 4 strata launch --layout 4x1 ...) this process may already be bound to a
/// part of what its job may use (`inherited`). Where that leaves out PUs of its place in the placement, the
/// first of the ranks on this node that find so throws an Error, which names srun's option where it was srun,
/// and the others exit without a word.
void refuse_contradicting_binding(const Placement& placement, int index, const Rank& rank,
                                  const std::vector<int>& inherited, const std::vector<std::string>& command);

}  // namespace strata::launch
