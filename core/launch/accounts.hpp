// What a run cost, and what disturbed it: the system's own books before and after.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/machine/proc.hpp"

namespace strata::launch {

/// The books at one moment.
struct Books {
    std::chrono::steady_clock::time_point at;
    std::map<int, machine::CpuTimes> cpus;
    std::map<int, double> cpu_busy_exact;  // seconds, where the kernel counts them in nanoseconds
    std::optional<std::int64_t> cpu_pressure_us, memory_pressure_us, io_pressure_us;
    double own_s = 0;         // CPU time of collected children
    double supervisor_s = 0;  // and of this process
};
/// CPU time of all children that have been collected.
double children_cpu_s();
Books read_books(const std::vector<int>& pus);

struct CpuAccount {
    double own_s = 0;
    std::optional<double> others_s, others_share;  // none for a run too short to tell
    double steal_s = 0, irq_s = 0;
    std::optional<double> steal_share;
    double supervisor_s = 0;
    const char* method = "/proc/stat";
};

/// Between two books, over `pus`. The tick counters are blind below some ticks: others' shares are given from
/// kShortestRun on, and nothing smaller than what own time leaves is called negative.
CpuAccount settle(const Books& before, const Books& after, const std::vector<int>& pus);
inline constexpr double kShortestRun = 0.2;

}  // namespace strata::launch
