// The cost of a run and its disturbance, from the system's counts for its CPUs before and after.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/machine/proc.hpp"

namespace strata::launch {

/// The system's counts at one moment.
struct UsageSnapshot {
    std::chrono::steady_clock::time_point at;
    std::map<int, machine::CpuTimes> cpus;
    std::map<int, double> cpu_busy_exact;  // seconds, where the kernel counts them in nanoseconds
    std::optional<std::int64_t> cpu_pressure_us, memory_pressure_us, io_pressure_us;
    double own_s = 0;         // CPU time of collected children
    double supervisor_s = 0;  // and of this process
};
/// CPU time of all children that have been collected.
double children_cpu_s();
UsageSnapshot read_usage(const std::vector<int>& pus);

struct CpuUsage {
    double own_s = 0;
    std::optional<double> others_s, others_share;  // none for a run too short to tell
    double steal_s = 0, irq_s = 0;
    std::optional<double> steal_share;
    double supervisor_s = 0;
    const char* method = "/proc/stat";
};

/// Between two snapshots, over `pus`. The tick counters are blind below some ticks: others' shares are given
/// from kShortestRun on, and nothing smaller than what own time leaves is called negative.
CpuUsage settle(const UsageSnapshot& before, const UsageSnapshot& after, const std::vector<int>& pus);
inline constexpr double kShortestRun = 0.2;

}  // namespace strata::launch
