#pragma once

#include "solvers/mpm/labels.hpp"
#include "solvers/mpm/settings.hpp"

namespace strata::mpm {

/// Declares the solver's labels and tasks. The settings must be complete and outlive the graph.
[[nodiscard]] Labels declare(graph::Graph& graph, const Settings& settings);

}  // namespace strata::mpm
