// U x = y, where the factorization has left them.
#pragma once

#include <vector>

#include "benchmarks/common/messages.hpp"
#include "benchmarks/hpcc/hpl/equations.hpp"

namespace strata::bench::hpcc::linpack {

/// Block by block from the last one: the process with the block's diagonal gathers what its row of processes
/// has summed up so far, solves, and tells its column. The result has this process's blocks of x, 0
/// elsewhere.
[[nodiscard]] std::vector<double> back_substitution(const Equations& equations, Messages& messages);

}  // namespace strata::bench::hpcc::linpack
