// The step of the flow solver as tasks.
#pragma once

#include <memory>
#include <vector>

#include "solvers/flow/labels.hpp"
#include "solvers/flow/output/slices.hpp"
#include "solvers/flow/output/surface.hpp"
#include "solvers/flow/settings.hpp"
#include "solvers/flow/zones.hpp"

namespace strata::flow {

/// A case in its graph.
struct Flow {
    std::vector<Boundary> boundaries;
    /// Of stages and of multigrid cycles, the coarsest first.
    std::vector<std::unique_ptr<FlowZones>> grids;
    std::vector<Labels> labels;
    Report report;
    Shown shown;
    std::vector<Slice> slices;
    [[nodiscard]] const FlowZones& grid() const { return *grids.back(); }
    [[nodiscard]] const Labels& finest() const { return labels.back(); }
};

/// Declares zones, labels and tasks. The settings must outlive the graph.
[[nodiscard]] std::shared_ptr<const Flow> declare(graph::Graph& graph, const Settings& settings,
                                                  const graph::CaseSchema& keys);

}  // namespace strata::flow
