// Threads for loads: the pieces that plans are made of. For this folder's own sources.
#pragma once

#include <vector>

#include "core/balance/thread_curve.hpp"

namespace strata::balance {

[[nodiscard]] std::vector<double> speeds_of(const std::vector<int>& threads, const ThreadCurve& curve);

/// max over processes of load / speed-up of its threads.
[[nodiscard]] double longest_of(const std::vector<double>& loads, const std::vector<int>& threads,
                                const ThreadCurve& curve);

/// The fewest threads with which each load ends by `time`; empty where that takes more than `cpus`.
[[nodiscard]] std::vector<int> threads_within(const std::vector<double>& loads, double time, int cpus,
                                              const ThreadCurve& curve);

}  // namespace strata::balance
