// LU, symmetric successive over-relaxation (RNR-94-007, section 3): the flow equations advanced by a lower
// and an upper block triangular solve.
#pragma once

#include "benchmarks/npb/common/benchmark.hpp"

namespace strata::npb::lu {

extern const Benchmark benchmark;

}  // namespace strata::npb::lu
