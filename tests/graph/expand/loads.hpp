// What owners make of costs, and the graphs of plans by their names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/graph/expand/assign/assignment.hpp"
#include "tests/graph/plans/plan_graphs.hpp"

namespace strata::tests {

inline std::size_t z(int number) { return static_cast<std::size_t>(number); }

/// [process] -> the sum of its patches' costs.
inline std::vector<double> loads(const graph::PatchCosts& costs, const graph::Assignment& all,
                                 int processes) {
    std::vector<double> sums(z(processes), 0.0);
    for (const graph::FamilyId f : all.owner.ids())
        for (std::size_t p = 0; p < all.owner[f].size(); ++p) sums[z(all.owner[f][p])] += costs[f][p];
    return sums;
}
inline double longest(const std::vector<double>& loads) {
    return *std::max_element(loads.begin(), loads.end());
}
inline double mean(const std::vector<double>& loads) {
    return std::accumulate(loads.begin(), loads.end(), 0.0) / static_cast<double>(loads.size());
}

/// Whether there is a graph of plans of this name: those of the solvers' cases are not where these are not
/// built.
inline bool is_planned(const std::string& name) {
    const auto& all = planned_graphs();
    return std::any_of(all.begin(), all.end(), [&](const PlannedGraph& of) { return of.name == name; });
}
/// It, declared once.
inline const graph::Graph& planned(const std::string& name) {
    static std::map<std::string, DeclaredGraph> made;
    for (const PlannedGraph& of : planned_graphs())
        if (of.name == name && !made.contains(name)) made[name] = of.declare();
    return *made.at(name).graph;
}

}  // namespace strata::tests
