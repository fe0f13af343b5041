// The owners and threads of a plan, for a given number of processes or for the best one. For this folder's
// own sources.
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

/// The owners and threads by the request's method. `curve`: the request's curve, with its limit on threads.
[[nodiscard]] Draft make_draft(const Problem& problem, const Request& request, const ThreadCurve& curve);

/// Branch and bound over owners and threads together, starting from `best`, with at most `nodes` nodes.
/// Owners reach a time if their loads need no more threads than there are CPUs. Returns true where `best` is
/// then proven to be the optimum.
bool search_draft(const std::vector<double>& costs, int cpus, const ThreadCurve& curve, Draft& best,
                  long nodes = 200'000);

}  // namespace strata::balance
