// CG, conjugate gradient (NAS-91-002, section 2.2.3): the smallest eigenvalue of a large sparse symmetric
// positive definite matrix by inverse iteration, each step of which solves A z = x by 25 steps of CG.
#pragma once

#include "benchmarks/npb/common/benchmark.hpp"

namespace strata::npb::cg {

extern const Benchmark benchmark;

struct Problem {
    std::int64_t n;  // order of the matrix
    int nonzer;      // nonzeros of each random vector
    int iterations;  // of the inverse iteration
    double shift;    // lambda
    double zeta;     // official value (NPB 3.4, CG; relative error at most 1e-10)
};
[[nodiscard]] const Problem& problem(Class size);

}  // namespace strata::npb::cg
