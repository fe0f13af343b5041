// The step of this solver, as tasks.
#pragma once

#include "core/graph/declare/graph.hpp"
#include "solvers/transport/labels.hpp"
#include "solvers/transport/settings.hpp"

namespace strata::transport {

/// Declares the grid, the labels and the tasks of a case. The settings must outlive the graph.
[[nodiscard]] Labels declare(graph::Graph& graph, const Settings& settings);

}  // namespace strata::transport
