// A worker: the process that tests one core. It goes round the kernels for ever, each time from the next
// seed, and compares what it computed with the known answer; an order comes first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/integrity/places.hpp"
#include "benchmarks/integrity/shared.hpp"

namespace strata::integrity {

struct WorkerPart {
    int index = 0;
    Place place;
    std::uint64_t seed = 0;  // of the run
    std::vector<std::uint32_t> chosen;
    bool yields = true;
    std::uint64_t rounds = 0;  // of each kernel; 0: without end
    Shared* shared = nullptr;
    std::span<Desk> desks;
    std::span<std::byte> memory;  // under test, of all workers
    int reports = -1;             // the pipe
};

/// The share of the memory under test that belongs to worker `index` of `count`.
[[nodiscard]] std::span<std::byte> share_of(std::span<std::byte> memory, int index, std::size_t count);

/// Does not return: ends with the supervisor, by a signal.
[[noreturn]] void work(const WorkerPart& part);

/// Nanoseconds of CPU time that this process has had.
[[nodiscard]] std::int64_t own_cpu_ns();

/// Room for any of the kernels, aligned to a page. Throws Error.
[[nodiscard]] std::span<std::byte> scratch_for_all();

}  // namespace strata::integrity
