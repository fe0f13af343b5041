// The quantities of this solver, and its step as tasks.
#pragma once

#include <array>

#include "core/graph/declare/graph.hpp"
#include "solvers/transport/settings.hpp"

namespace strata::transport {

using graph::Field;
using graph::Scalar;

struct Labels {
    Field<double> T;                 // temperature, or what the flow carries
    Field<double> T_star;            // after the first stage of an advection step
    std::array<Field<double>, 3> v;  // through the faces of each direction
    Scalar<double> rate;             // 1 / the largest stable step
    Scalar<double> dt, time;
    Scalar<double> total, least, most;  // of T: integral, smallest, largest
};

/// Declares the grid, the labels and the tasks of a case. The settings must outlive the graph.
[[nodiscard]] Labels declare(graph::Graph& graph, const Settings& settings);

}  // namespace strata::transport
