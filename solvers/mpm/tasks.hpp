#pragma once

#include "core/run/module/module.hpp"
#include "solvers/mpm/labels.hpp"
#include "solvers/mpm/settings.hpp"

namespace strata::mpm {

/// Declares the grid and the labels. The settings must be complete and outlive the graph.
[[nodiscard]] Labels make_labels(const graph::ModuleGraph& part, const Settings& settings);
/// Declares the tasks.
void declare(const graph::ModuleGraph& part, const Settings& settings, Labels& labels);
/// All of it, alone in a graph.
[[nodiscard]] Labels declare(graph::Graph& graph, const Settings& settings);

}  // namespace strata::mpm
