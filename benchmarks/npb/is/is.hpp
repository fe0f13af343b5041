// IS, integer sort (NAS-91-002, section 2.2.5): the ranks of small integer keys, ten times over.
#pragma once

#include <array>
#include <cstdint>

#include "benchmarks/npb/common/benchmark.hpp"

namespace strata::npb::is {

extern const Benchmark benchmark;

inline constexpr int kIterations = 10;
inline constexpr std::size_t kTests = 5;

/// Sizes, and what partial verification knows: after iteration i the key at place index[t] has rank
/// rank[t] + sign[t] (i - delay[t]) (NPB 3.4, IS).
struct Problem {
    int log_keys, log_values;  // 2^log_keys keys of 0 to 2^log_values - 1
    std::array<std::int64_t, kTests> index, rank;
    std::array<int, kTests> sign;
    std::array<int, kTests> delay;
    [[nodiscard]] std::int64_t keys() const { return std::int64_t{1} << log_keys; }
    [[nodiscard]] std::int64_t values() const { return std::int64_t{1} << log_values; }
};
/// Throws Error for class F, which is not defined.
[[nodiscard]] const Problem& problem(Class size);
/// The rank that test t of an iteration must find.
[[nodiscard]] std::int64_t official_rank(Class size, std::size_t t, int iteration);

}  // namespace strata::npb::is
