// The quantities of this solver, and its step as tasks.
#pragma once

#include <array>

#include "core/graph/declare/clock.hpp"
#include "core/graph/kernels/report.hpp"
#include "core/run/module/module.hpp"
#include "solvers/transport/settings.hpp"

namespace strata::transport {

struct Labels {
    const graph::Grid* grid = nullptr;
    graph::Field<double> T;                 // temperature, or what the flow carries
    graph::Field<double> T_star;            // after the first stage of an advection step
    std::array<graph::Field<double>, 3> v;  // through the faces of each direction
    graph::Scalar<double> rate;             // 1 / the largest stable step
    graph::Clock clock;
    graph::kernels::Report report;  // of T: integral, smallest, largest
};

/// Declares the grid and the labels of a case, but its clock's. The settings must outlive the graph.
[[nodiscard]] Labels make_labels(const graph::ModuleGraph& part, const Settings& settings);
/// Declares the clock and the tasks.
void declare(const graph::ModuleGraph& part, const Settings& settings, Labels& labels);
/// All of it, alone in a graph.
[[nodiscard]] Labels declare(graph::Graph& graph, const Settings& settings);

}  // namespace strata::transport
