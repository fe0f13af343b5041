// What is known of the flow in a cell, of meshes that overlap: outputs leave out what is not.
#pragma once

#include <functional>

#include "core/graph/declare/graph.hpp"

namespace strata::flow {

enum class Known {
    computed,
    interpolated,  // from another mesh
    nothing,       // the cell holds its first values
};

/// Declares that a task needs to know that of its patch's cells, with so many layers around them, and gives
/// what tells it. An empty function: all cells are computed.
using KnownOf =
    std::function<std::function<Known(const graph::Here&, const graph::Int3&)>(graph::Task&, graph::Ghosts)>;

}  // namespace strata::flow
