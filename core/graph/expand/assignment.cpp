#include "core/graph/expand/assignment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/balance/space_curve.hpp"
#include "core/base/error.hpp"

namespace strata::graph {

void Assignment::number(int processes) {
    local.assign(owner.size(), {});
    for (const FamilyId f : owner.ids()) {
        std::vector<int> next(static_cast<std::size_t>(processes), 0);
        local[f].reserve(owner[f].size());
        for (const int process : owner[f]) {
            if (process < 0 || process >= processes)
                throw Error("a patch is assigned to a process that is not there")
                    .given(fmt::format("process {}", process))
                    .allowed(fmt::format("0 to {}", processes - 1));
            local[f].push_back(next[static_cast<std::size_t>(process)]++);
        }
    }
}

OwnPatches Assignment::of(int process) const {
    OwnPatches own(owner.size());
    for (const FamilyId f : owner.ids())
        for (std::size_t p = 0; p < owner[f].size(); ++p)
            if (owner[f][p] == process) own[f].push_back(static_cast<int>(p));
    return own;
}

Assignment assign(const Graph& graph, int processes, const VectorBy<FamilyId, std::vector<double>>& costs) {
    Assignment all;
    const std::vector<double> speeds(static_cast<std::size_t>(processes), 1.0);
    for (const FamilyId f : graph.families().ids()) {
        const Family& family = *graph.families()[f];
        const std::vector<int> order = family.order();
        std::vector<double> along(order.size(), 1.0);
        if (costs.has(f) && !costs[f].empty())
            for (std::size_t i = 0; i < order.size(); ++i)
                along[i] = costs[f][static_cast<std::size_t>(order[i])];
        const auto chunks = balance::split_sequence(along, speeds);
        std::vector<int> owner(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) owner[static_cast<std::size_t>(order[i])] = chunks[i];
        all.owner.push_back(std::move(owner));
    }
    all.number(processes);
    return all;
}

FamilyId number_of(const Graph& graph, const Family& family) {
    const auto& all = graph.families();
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.get() == &family; });
    if (at == all.end())
        throw Error(fmt::format("family '{}' does not belong to graph '{}'", family.name(), graph.name()))
            .remedy("make it with Graph::grid() or Graph::add()");
    return FamilyId(at - all.begin());
}

}  // namespace strata::graph
