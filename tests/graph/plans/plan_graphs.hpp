// The graphs whose plans are recorded, and how the plan of one is made.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/expand/plan.hpp"

namespace strata::tests {

/// A graph with all that it refers to.
struct DeclaredGraph {
    std::shared_ptr<void> holder;
    graph::Graph* graph = nullptr;
};

struct PlannedGraph {
    std::string name;
    std::function<DeclaredGraph()> declare;
    /// The plan is made in place of another one: patches have gone to any processes, and relations are those
    /// of the first step.
    bool moved = false;
};

/// Small grids and solvers, random graphs, clouds of particles; cases of the solvers where these were built.
[[nodiscard]] const std::vector<PlannedGraph>& planned_graphs();

/// Makes the plan of a graph, with so many threads for each process, and shows it. Collective over the
/// members. `serial`: this and the next are no other plan's of these processes.
void with_plan(const PlannedGraph& of, const graph::Members& members, int threads, std::uint64_t serial,
               const std::function<void(graph::Plan&)>& show);

}  // namespace strata::tests
