// What a simulation takes of one process's memory.
#pragma once

#include <cstdint>
#include <optional>

namespace strata::graph {

class Plan;

/// In bytes, of one process.
struct RunBytes {
    /// Values of labels on the process's patches, all generations; particles with the spare room of their
    /// arrays, and objects as these say it.
    std::uint64_t values = 0;
    /// What lies around and between them: ghosts of patches of other processes, layers of blocks, windows of
    /// contributions, and the ends of pages and cache lines.
    std::uint64_t copies = 0;
    /// What Strata itself holds: the resolved graph, the plan, flags, tables, message buffers and the
    /// threads' queues. Null where the C library does not tell what it has given out (other than glibc
    /// from 2.33 on, AddressSanitizer).
    std::optional<std::uint64_t> runtime;
};

/// Bytes that this process has from the C library's heap now; null where it does not tell.
[[nodiscard]] std::optional<std::uint64_t> heap_bytes();

/// The values and copies of a plan, and as the runtime's share what the plan holds in memory that other
/// processes read.
[[nodiscard]] RunBytes bytes_of(const Plan& plan);

}  // namespace strata::graph
