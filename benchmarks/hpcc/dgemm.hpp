// What DGEMM shares with benchmarks that rest on it: which BLAS, and what rate it reaches.
#pragma once

#include <cstdint>

#include "benchmarks/common/benchmark.hpp"
#include "benchmarks/common/blas.hpp"

namespace strata::bench::hpcc {

/// The options --blas, --kernels and --own-choice.
void declare_blas(Options& options);

/// The BLAS that these options name, or the fastest by trial, with a note for each that was tried. All
/// processes agree on the first one's choice: they are the same program on the same machine.
[[nodiscard]] BlasChoice choose_blas(Group& group, const Parsed& given, Result& result);

/// GF/s of all processes, each with all its threads on a multiplication of order n, at once: the best of the
/// repeats, the slowest process's time.
[[nodiscard]] double dgemm_rate(Group& group, const Blas& blas, std::int64_t n, int repeats);

}  // namespace strata::bench::hpcc
