#pragma once

#include "solvers/md/labels.hpp"
#include "solvers/md/settings.hpp"

namespace strata::md {

/// Declares the solver's labels and tasks. The settings must be complete and outlive the graph.
[[nodiscard]] Labels declare(graph::Graph& graph, const Settings& settings);

}  // namespace strata::md
