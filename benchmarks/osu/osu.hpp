// Measures of message passing as the OSU micro-benchmarks define them, written from the definitions
// (docs/benchmarks.md).
#pragma once

#include "benchmarks/common/benchmark.hpp"

namespace strata::bench::osu {

extern const Benchmark message_rate;

}  // namespace strata::bench::osu
