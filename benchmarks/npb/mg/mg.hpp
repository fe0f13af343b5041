// MG, multigrid (NAS-91-002, section 2.2.2): V-cycles for the Poisson equation A u = v on a periodic cube, v
// being +1 at ten points, -1 at ten others, 0 elsewhere.
#pragma once

#include "benchmarks/npb/common/benchmark.hpp"

namespace strata::npb::mg {

extern const Benchmark benchmark;

struct Problem {
    int levels;      // 2^levels points in each direction
    int iterations;  // V-cycles
    double norm;     // official L2 norm of the final residual (NPB 3.4, MG; relative error at most 1e-8)
    [[nodiscard]] std::int64_t points() const { return std::int64_t{1} << levels; }
};
[[nodiscard]] const Problem& problem(Class size);

}  // namespace strata::npb::mg
