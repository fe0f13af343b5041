// How good the cells of meshes are.
#pragma once

#include "core/graph/declare/graph.hpp"
#include "solvers/flow/labels.hpp"
#include "solvers/flow/zones.hpp"

namespace strata::flow {

/// The worst of a zone's cells: [3 zone + Quality].
enum Quality : int { kAspect, kSkew, kGrowth, kQualities };

/// Aspect: the longest edge of a cell over its shortest one. Skew: how far two edges at a corner are from a
/// right angle, in degrees. Growth: the volume of a cell over its neighbour's, or the other way round.
template <int Dim>
void find_quality(graph::Graph& graph, const FlowZones& grid, const Labels& labels,
                  graph::Scalars<double> worst);

}  // namespace strata::flow
