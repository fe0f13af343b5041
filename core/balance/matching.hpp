// Threads for loads: the building blocks of plans. For this folder's own sources.
#pragma once

#include <vector>

#include "core/balance/thread_curve.hpp"

namespace strata::balance {

[[nodiscard]] std::vector<double> speeds_of(const std::vector<int>& threads, const ThreadCurve& curve);

/// The longest time: the maximum over processes of load / speed-up of its threads.
[[nodiscard]] double longest_of(const std::vector<double>& loads, const std::vector<int>& threads,
                                const ThreadCurve& curve);

/// The fewest threads for each load to end by `time`; empty where they are more than `cpus`.
[[nodiscard]] std::vector<int> threads_within(const std::vector<double>& loads, double time, int cpus,
                                              const ThreadCurve& curve);

}  // namespace strata::balance
