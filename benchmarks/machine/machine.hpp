// What the machine itself does: its memory, its cache lines, its cores and its disturbances.
#pragma once

#include "benchmarks/common/benchmark.hpp"

namespace strata::bench::machine_measures {

extern const Benchmark latency, lines, domains, noise, peak, cache_bandwidth, pages, cycles, clock;

}  // namespace strata::bench::machine_measures
