// LU, symmetric successive over-relaxation (RNR-94-007, section 3): the flow equations advanced by a lower
// and an upper block triangular solve.
#pragma once

#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/flow/domain.hpp"
#include "benchmarks/npb/flow/operations.hpp"

namespace strata::npb::lu {

extern const Benchmark benchmark;

/// A class's grid, iterations, time step and official values.
[[nodiscard]] const flow::Problem& problem_of(Class size);
/// What a run found, beside the official values.
[[nodiscard]] Outcome concluded(const flow::Problem& problem, double seconds, const flow::State& residual,
                                const flow::State& error, double integral);

inline constexpr flow::Operations kOperations = {1984.77, -10923.3, 27770.9, -144010.0};

}  // namespace strata::npb::lu
