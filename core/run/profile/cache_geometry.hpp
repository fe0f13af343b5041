// The caches that callgrind simulates, as close as possible to the machine's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"

namespace strata::graph {

struct CacheGeometry {
    std::uint64_t size = 0;  // bytes
    int ways = 1, line = 64;
    friend bool operator==(const CacheGeometry&, const CacheGeometry&) = default;
};

/// "48 KiB, 12-way, lines of 64 B"
[[nodiscard]] std::string text_of(const CacheGeometry& cache);

/// Callgrind's caches have a number of sets that is a power of two. Returns `cache` if it fits, else the
/// nearest one: nearest in size, then in ways, with half to twice as many sets. Lines are rounded to a power
/// of two. An unknown number of ways (0) becomes eight, a fully associative cache (-1) gets 64 ways.
[[nodiscard]] CacheGeometry nearest_allowed(const CacheGeometry& cache);

/// The caches that callgrind simulates: instructions, data, and the last level.
struct SimulatedCaches {
    CacheGeometry instructions, data, last;
    std::vector<std::string> changed;  // one line for each cache that differs from the machine's
    /// --I1=SIZE,WAYS,LINE and so on.
    [[nodiscard]] std::vector<std::string> options() const;
};

/// The simulated caches for a core. A kind of cache that the machine's description lacks gets the usual 32
/// KiB (first level) or 2 MiB, and a line in `changed`.
[[nodiscard]] SimulatedCaches simulated_caches(const machine::Machine& machine, int core);

}  // namespace strata::graph
