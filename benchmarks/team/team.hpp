// Benchmarks of the team layer, each beside what else there is for the same purpose.
#pragma once

#include "benchmarks/common/benchmark.hpp"

namespace strata::bench::team_layer {

extern const Benchmark barrier, flag, read, core_switch;

}  // namespace strata::bench::team_layer
