// SP, scalar pentadiagonal (RNR-94-007, section 3): the flow equations advanced by an approximate
// factorisation in diagonal form, which leaves pentadiagonal systems of single numbers along the lines.
#pragma once

#include "benchmarks/npb/common/benchmark.hpp"

namespace strata::npb::sp {

extern const Benchmark benchmark;

}  // namespace strata::npb::sp
