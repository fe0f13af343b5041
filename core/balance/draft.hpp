// Owners and threads for a number of processes, or for the best number. For this folder's own sources.
#pragma once

#include <cmath>
#include <vector>

#include "core/balance/plan.hpp"

namespace strata::balance {

struct Draft {
    Owners owners;
    std::vector<int> threads;
    double longest = INFINITY;
};

/// The plan's owners and threads by the request's method. `curve`: the request's, with its limit of threads.
[[nodiscard]] Draft make_draft(const Problem& problem, const Request& request, const ThreadCurve& curve);

/// Branch and bound over owners and threads together, from `best` on, at most `nodes` nodes: a time is
/// reached by owners whose loads need no more threads than there are CPUs. True where `best` is then proven
/// to be the optimum.
bool search_draft(const std::vector<double>& costs, int cpus, const ThreadCurve& curve, Draft& best,
                  long nodes = 200'000);

}  // namespace strata::balance
