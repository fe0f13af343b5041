// BT, block tridiagonal (RNR-94-007, section 3): the flow equations advanced by an approximate factorisation
// that leaves systems of 5 x 5 blocks along the lines.
#pragma once

#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/flow/operations.hpp"

namespace strata::npb::bt {

extern const Benchmark benchmark;

inline constexpr flow::Operations kOperations = {3478.8, -17655.7, 28023.7, 0};

}  // namespace strata::npb::bt
