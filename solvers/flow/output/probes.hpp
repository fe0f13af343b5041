// Values at points. The cell that holds a point is found at the start, and where grids move in each step; its
// value there is that of the cell's centre plus gradient times distance (CellDifferences): second order, not
// continuous between cells.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/declare/graph.hpp"
#include "solvers/flow/boundary/wall_distance.hpp"
#include "solvers/flow/output/cells.hpp"
#include "solvers/flow/output/known.hpp"

namespace strata::flow {

/// The cell of a patch that holds a point: the map from the unit square or cube to the cell (linear in each
/// index) is inverted by Newton's method. A point on a face belongs to both sides; the first cell, i fastest,
/// for which `may` holds (none given: all) is taken. None: no cell holds it.
template <int Dim>
[[nodiscard]] std::optional<Int3> cell_of(const Box& cells, const FieldView<const double>& nodes,
                                          const Real3& x, const std::function<bool(const Int3&)>& may = {});

/// Primitive values and what else is known at a point.
inline constexpr int kProbed = 5;  // rho, u, v, w, p
template <int Dim>
[[nodiscard]] std::array<double, kProbed> probe(double gamma, const Int3& cell, const Real3& x,
                                                const FieldView<const double>& q,
                                                const FieldView<const double>& centres);

struct Probes {
    const graph::Grid& grid;
    int dimensions = 3;
    double gamma = 1.4;
    std::vector<Real3> points;
    ViewOf nodes;
    ViewOf centres;  // with a layer beyond faces: neighbours' cells, and mirror images
    /// Of meshes that overlap: a computed cell is taken, else one that is interpolated, and never a hole.
    KnownOf known = {};
    /// Grids move: points stand still. One that no cell holds in a step has zeros in it, density included.
    bool moves = false;
};
struct ProbeLabels {
    /// [5 probe + value]: rho, u, v, w, p of each probe.
    graph::Scalars<double> values;
    /// The patch that holds each point: the lowest one, plus the number of patches where it has no computed
    /// cell but an interpolated one. A point that no cell holds at the start
    /// ends the run, by number and place.
    graph::Scalars<double> holders;
};
/// Declares the search at the start (of grids that move, in `scope` too), and a task in `scope` that reads a
/// version of q.
[[nodiscard]] ProbeLabels declare_probes(graph::Graph& graph, graph::Scope& scope, const Probes& probes,
                                         const graph::TypedVersion<double, graph::Kind::field>& q);

}  // namespace strata::flow
