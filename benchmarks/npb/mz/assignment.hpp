#pragma once

#include <span>
#include <string>
#include <vector>

#include "benchmarks/npb/mz/zones.hpp"

namespace strata::npb::mz {

/// Which process has each zone, and how many threads each process has.
struct Assignment {
    std::vector<int> owners;   // [zone]
    std::vector<int> threads;  // [process]
    double efficiency = 1;     // predicted: all costs / (threads x the longest time of a process)
};

/// What an iteration over a zone costs: points, some of them counted by the eights that the kernels take.
[[nodiscard]] double cost_of(const Index& size);
[[nodiscard]] std::vector<double> costs_of(const Zones& zones);

/// Packs zones into so many processes with `threads` threads each. Where threads can be `moved` between
/// processes, as in a team, their number follows the load (core/balance/plan.hpp), all in all processes x
/// threads. Throws Error where there are more processes than zones.
[[nodiscard]] Assignment assign(const Zones& zones, int processes, int threads, bool moved);

/// Predicted efficiency of layouts up to 2048 CPUs with up to 8 threads to a process: a table in text.
[[nodiscard]] std::string balance_text(const std::string& name, Class size, const Zones& zones);

}  // namespace strata::npb::mz
