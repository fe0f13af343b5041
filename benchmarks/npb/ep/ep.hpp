// EP, "embarrassingly parallel" (NAS-91-002, section 2.2.1): pairs of uniform numbers become pairs of
// independent Gaussian deviates by the polar method, whose sums are checked.
#pragma once

#include "benchmarks/npb/common/benchmark.hpp"

namespace strata::npb::ep {

extern const Benchmark benchmark;

/// What pairs have given: sums of the deviates, and how many had the larger absolute value in [l, l + 1).
struct Tally {
    double x = 0, y = 0;
    std::uint64_t counts[10] = {};
};

/// Adds what pairs `first` to `first + count` - 1 of the sequence give; count is a multiple of 16.
void tally_pairs(std::uint64_t first, std::uint64_t count, Tally& tally);

}  // namespace strata::npb::ep
