// LU, symmetric successive over-relaxation (RNR-94-007, section 3): the flow equations advanced by a lower
// and an upper block triangular solve.
#pragma once

#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/flow/operations.hpp"

namespace strata::npb::lu {

extern const Benchmark benchmark;

inline constexpr flow::Operations kOperations = {1984.77, -10923.3, 27770.9, -144010.0};

}  // namespace strata::npb::lu
