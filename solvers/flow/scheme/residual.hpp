// The residual of a patch: one pass over its cells.
#pragma once

#include "solvers/flow/scheme/options.hpp"
#include "solvers/flow/scheme/patch.hpp"

namespace strata::flow {

/// R = sum over faces of the outgoing flux (convective, less viscous), less sources: V dq/dt = -R.
///
/// Fluxes: Roe's (roe.hpp) of states extrapolated by MUSCL (muscl.hpp), and full viscous terms (viscous.hpp),
/// with the turbulent viscosity where there is a model. With Spalart-Allmaras (sa.hpp) also
///   nu_tilde: V times u . grad nu~ - production + destruction - diffusion, so that V dnu~/dt = -R;
///   slope: V times the derivative of destruction less production by nu~, where positive: begins diagonal_nu
///   of diagonals();
/// with Menter's model (sst.hpp) the same of k and omega, by components.
/// In a frame that turns (Scheme::spin) momentum also has V spin x rho u.
/// Writes own cells alone. A cell's value depends on the values around it only, not on the box.
/// Sizes: reads q within two cells along each axis, and for viscous terms the 3^Dim cells around.
template <int Dim>
void residual(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme, const FieldView<double>& mean,
              const FieldView<double>& nu_tilde = no_result(), const FieldView<double>& slope = no_result());

/// Adds V (a q + b q_old + c q_older) to the residual: dual time steps; second order has a, b, c = 1.5, -2,
/// 0.5 over the step. Any number of components.
void add_time_difference(const Box& cells, int components, const FieldView<const double>& volumes, double a,
                         const FieldView<const double>& q, double b, const FieldView<const double>& old,
                         double c, const FieldView<const double>& older, const FieldView<double>& residual);

/// Sum of (R / V)^2 of one component over the box, always in the same order. The norm of a grid: the root of
/// the sum over its patches by its number of cells.
double square_sum(const Box& cells, const FieldView<const double>& volumes,
                  const FieldView<const double>& residual, int component);

extern template void residual<2>(const Box&, const Patch<2>&, const Scheme&, const FieldView<double>&,
                                 const FieldView<double>&, const FieldView<double>&);
extern template void residual<3>(const Box&, const Patch<3>&, const Scheme&, const FieldView<double>&,
                                 const FieldView<double>&, const FieldView<double>&);

}  // namespace strata::flow
