// SP, scalar pentadiagonal (RNR-94-007, section 3): the flow equations advanced by an approximate
// factorisation in diagonal form, which leaves pentadiagonal systems of single numbers along the lines.
#pragma once

#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/flow/operations.hpp"

namespace strata::npb::sp {

extern const Benchmark benchmark;

inline constexpr flow::Operations kOperations = {881.174, -4683.91, 11484.5, -19272.4};

}  // namespace strata::npb::sp
