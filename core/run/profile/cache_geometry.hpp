// The caches that callgrind simulates, as near to a machine's as it can.
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

/// Callgrind's caches have a power of two of sets. This one where that is so, else the one whose size is
/// nearest, and of those the one whose ways are; with sets half to twice as many. Lines become a power of
/// two, ways that are not known (0) eight, a cache that is all one set (-1) 64 ways.
[[nodiscard]] CacheGeometry nearest_allowed(const CacheGeometry& cache);

/// What callgrind simulates: instructions, data, and the last level.
struct SimulatedCaches {
    CacheGeometry instructions, data, last;
    std::vector<std::string> changed;  // one line for each that the machine has otherwise
    /// --I1=SIZE,WAYS,LINE and so on.
    [[nodiscard]] std::vector<std::string> options() const;
};

/// From the caches of a core. Without a cache of a kind in the machine's description, the usual 32 KiB (first
/// level) or 2 MiB are taken, and `changed` says so.
[[nodiscard]] SimulatedCaches simulated_caches(const machine::Machine& machine, int core);

}  // namespace strata::graph
