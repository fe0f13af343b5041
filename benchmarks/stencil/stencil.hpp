// A program as scientists run them, small enough to be known by heart: an explicit stencil over a grid.
#pragma once

#include "benchmarks/common/benchmark.hpp"

namespace strata::bench::stencil {

extern const Benchmark stencil;

}  // namespace strata::bench::stencil
