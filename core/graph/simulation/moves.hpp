// What balancing by measured costs has done in a run.
#pragma once

#include <cstdint>
#include <vector>

namespace strata::graph {

/// A move of patches by measured costs.
struct PatchMove {
    std::int64_t step = 0;  // after which
    int patches = 0;        // that have another process since
    /// Mean time of a process / longest, by the costs before the move.
    double balance_before = 1, balance_after = 1;
    double seconds = 0;  // of planning and moving
};

/// What balancing has done in a run, and what it has cost this process.
struct BalanceRecord {
    std::int64_t looks = 0;
    double looks_s = 0;  // exchange of costs and decisions, without waits for other processes
    bool room = true;    // there is memory for a plan beside the present one; else patches stay
    std::vector<PatchMove> moves;
};

}  // namespace strata::graph
