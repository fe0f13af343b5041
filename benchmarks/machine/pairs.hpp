// Which pairs of cores are measured when all would take too long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/machine/machine.hpp"

namespace strata::bench::machine_measures {

/// The nearest thing that two cores share: what decides how far a cache line travels between them.
enum class Shared { cache2, cache3, domain, package, nothing };
inline constexpr int kSharedKinds = 5;
[[nodiscard]] const char* text(Shared shared);

[[nodiscard]] Shared shared_by(const machine::Machine& machine, int core_a, int core_b);

/// All pairs of the given cores (positions a < b in `cores`) when they are at most `most`; otherwise `most`
/// of them, taken in turn from each kind of pair and at random within it, so that rare kinds are there. The
/// same for the same seed.
[[nodiscard]] std::vector<std::pair<int, int>> choose_pairs(const machine::Machine& machine,
                                                            std::span<const int> cores, std::size_t most,
                                                            std::uint64_t seed);

}  // namespace strata::bench::machine_measures
