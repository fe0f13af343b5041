// BT, block tridiagonal (RNR-94-007, section 3): the flow equations advanced by an approximate factorisation
// that leaves systems of 5 x 5 blocks along the lines.
#pragma once

#include "benchmarks/npb/common/benchmark.hpp"

namespace strata::npb::bt {

extern const Benchmark benchmark;

}  // namespace strata::npb::bt
