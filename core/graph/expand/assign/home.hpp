// The thread of its process that a patch's tasks prefer. Its values lie in the memory beside that thread,
// which therefore is the first to touch them.
#pragma once

#include <vector>

#include "core/graph/declare/family.hpp"

namespace strata::graph {

/// [i] -> the thread of the i-th of a process's patches (ascending): a contiguous piece of the family's order
/// for each thread.
///   Example: patches 4, 5, 6, 7 in that order, two threads: 0, 0, 1, 1.
[[nodiscard]] std::vector<int> home_threads(const Family& family, const std::vector<int>& patches,
                                            int threads);

}  // namespace strata::graph
