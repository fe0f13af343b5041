// A finite-volume step of the compressible Euler equations on a Cartesian grid that may turn.
#pragma once

#include <array>

#include "core/graph/declare/view.hpp"

namespace strata::bench::graph_layer {

/// Density, momentum (3 components, along axes that rest) and total energy, each a component of its own.
constexpr int kFlowValues = 5;
constexpr double kGamma = 1.4;
using FlowState = std::array<double, kFlowValues>;

/// Conserved values of density, velocity and pressure.
[[nodiscard]] inline FlowState conserved(double density, const std::array<double, 3>& v, double pressure) {
    return {density, density * v[0], density * v[1], density * v[2],
            pressure / (kGamma - 1) + 0.5 * density * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])};
}

/// How a grid lies: turned by an angle around an axis along z, through (x, y) in its own cells, and turning
/// at a speed of `rate` for each cell of distance from the axis.
struct Turned {
    double cos = 1, sin = 0, rate = 0, x = 0, y = 0;
};

/// A stage of a Runge-Kutta step in the cells of a box:
///   to = a old + (1 - a) (u - step sum over faces (F - w U) . n),   step: time over the cells' edge.
/// Second order: slopes of density, velocity and pressure limited as by van Albada, G. D., van Leer, B.,
/// Roberts, W. W. (1982); Rusanov's flux with the velocity w of the face. Reads two cells around the box.
void flow_stage(const graph::FieldView<const double>& u, const graph::FieldView<const double>& old,
                const graph::FieldView<double>& to, double a, double step, const graph::Box& box,
                const Turned& grid);
/// Its operations for each cell, as counted in the source: +, -, *, /, roots and comparisons each are one.
extern const int kFlowOperations;

}  // namespace strata::bench::graph_layer
