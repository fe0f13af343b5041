// Outflow of a mass flow: its pressure follows from what flows through the whole boundary, so there are two
// halves with a scalar between them.
//
//   const auto sums = graph.scalar<std::array<double, kOutletSums>>("outlet", Reduce::sum);
//   ... each patch at the boundary:   add_outlet<3>(gamma, false, face, nodes, q, here[sums]);
//   ... then, where it is filled:     fill_border<3>(..., outlet_pressure(boundary, here[sums]));
#pragma once

#include <array>
#include <functional>

#include "solvers/flow/boundary/fill.hpp"

namespace strata::flow {

/// Area, mass flow out, and the integrals of pressure, speed of sound and normal velocity.
inline constexpr int kOutletSums = 5;

/// Adds the first cells of a face. `axisymmetric`: the plane's faces stand for whole rings.
/// `counts`: whether a cell does; without it all do.
template <int Dim>
void add_outlet(double gamma, bool axisymmetric, const PatchFace& face, const FieldView<const double>& nodes,
                const FieldView<const double>& q, std::array<double, kOutletSums>& sums,
                const std::function<bool(const Int3& cell)>& counts = {});

/// The pressure at which the mass flow would be the wanted one: along the outgoing invariant d(rho u_n) =
/// -dp (1 - M) / a for an isentropic change of the means. Between half and twice the mean pressure inside.
[[nodiscard]] double outlet_pressure(const Boundary& boundary, const std::array<double, kOutletSums>& sums);

}  // namespace strata::flow
