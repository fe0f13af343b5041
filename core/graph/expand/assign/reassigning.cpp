#include "core/graph/expand/assign/reassigning.hpp"

#include <cstddef>
#include <utility>

#include "core/balance/rebalance.hpp"
#include "core/graph/expand/assign/assigning.hpp"

namespace strata::graph {

namespace {

using namespace detail;

/// Patches that have another owner.
int moved(const FamilyOwners& now, const FamilyOwners& next) {
    int all = 0;
    for (const FamilyId f : now.ids())
        for (std::size_t p = 0; p < now[f].size(); ++p) all += now[f][p] != next[f][p] ? 1 : 0;
    return all;
}

}  // namespace

Assignment reassign(const Graph& graph, int processes, const PatchCosts& costs, const FamilyOwners& now) {
    const bool many = count_patches(graph) > kMostExchanging;
    const Exchanges exchanges = many ? Exchanges{} : find_exchanges(graph);
    const auto time = [&](const FamilyOwners& owners) {
        return many ? balance::longest_time(costs, owners, processes)
                    : step_time(graph, costs, exchanges, owners, processes);
    };
    FamilyOwners near = share_near(graph, now, costs, exchanges, processes);
    FamilyOwners cut = share_apart(graph, costs, {}, processes);
    const double near_time = time(near), cut_time = time(cut);
    const bool better = cut_time < (1 - kLeastGain) * near_time;
    const bool no_worse = cut_time <= near_time && moved(now, cut) <= moved(now, near);
    Assignment all;
    all.owner = better || no_worse ? std::move(cut) : std::move(near);
    all.number(processes);
    return all;
}

}  // namespace strata::graph
