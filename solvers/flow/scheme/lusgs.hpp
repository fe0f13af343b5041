// The implicit step: Yoon, S., Jameson, A. (1988), "Lower-upper symmetric-Gauss-Seidel method for the Euler
// and Navier-Stokes equations", AIAA J. 26(9), with exact products of Jacobians (no matrix is stored) and
// scalar spectral radii, and the equations of the turbulence model beside it, each by itself.
//
//   D dq* = -R + sum over lower neighbours n of (A_n dq*_n . S + r_n dq*_n) / 2         forward
//   D dq  = D dq* - sum over upper neighbours n of (A_n dq_n . S - r_n dq_n) / 2        backward
//   D = V/dt + sum over all faces of r / 2,  r = |u . S| + a |S| + 2 nu |S|^2 / V
//
// with S the area vector of the face between, up the index, and r that of the cell at that face. (A . S - w
// instead of A . S, and u . S - w, at faces that sweep the volume w in a unit of time.) The order is
// that of one sweep over the zone, x fastest: a cell needs its neighbours below alone, so patches of any size
// give the same bits. In lanes: eight rows at once, each one cell behind the row below it (hyperplanes i + j
// = constant within eight rows).
#pragma once

#include "solvers/flow/scheme/options.hpp"
#include "solvers/flow/scheme/patch.hpp"

namespace strata::flow {

/// 1 / D of cells that an implicit step is to leave as they are. (0 would be no number to who solves lines.)
inline constexpr double kHeld = 1e-60;

/// What the sweeps need beside the patch.
struct Diagonals {
    FieldView<const double> mean;      ///< 1 / D, own cells
    FieldView<const double> nu_tilde;  ///< those of the model's equations, own cells; no_field() without
    /// step_viscosity(), one ghost layer; no_field() without viscosity.
    FieldView<const double> viscosity;
};

/// Viscosities over the volume, of all cells of a box (own cells, or these and the ghosts beside them):
///   component 0: Mach/Re gamma (mu / Pr + mu_t / Pr_t) / rho / V
///   component 1, where nu~ is solved: Mach/Re (nu + nu~) / sigma / V
///   component 2: Mach/Re (mu + mu_t) / rho / V;
/// with Menter's model components 1 and 3 are those of k and omega, Mach/Re (mu + sigma mu_t) / rho / V, and
/// four more begin with kEddy: they are read.
inline constexpr int kStepViscosities = 3, kSstViscosities = 8;
[[nodiscard]] inline int step_viscosities(const Scheme& scheme) {
    return scheme.keeps_eddies() ? kSstViscosities : kStepViscosities;
}
/// The component that is the diffusion of an equation of the model.
[[nodiscard]] constexpr int diffusion_of(int equation) { return 2 * equation + 1; }
template <int Dim>
void step_viscosity(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme,
                    const FieldView<double>& viscosity);

/// 1 / D of all, with V/dt = sum of r / 2 over CFL (local time steps) plus V times `physical`. In `nu_tilde`
/// is what residual() left as slope; the rest is added.
template <int Dim>
void diagonals(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme, const StepSize& step,
               const FieldView<const double>& viscosity, const FieldView<double>& mean,
               const FieldView<double>& nu_tilde = no_result());

/// The least local time step at CFL 1, V / (sum of r / 2), over the box.
template <int Dim>
double least_time_step(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme,
                       const FieldView<const double>& viscosity);

/// A sweep's unknowns: dq, Dim + 2 components, and those of the model (no_result() without).
struct Unknowns {
    FieldView<double> mean, nu_tilde;
};
struct Upwind {
    FieldView<const double> mean, nu_tilde;
};

/// Before: R (residual()) in `unknowns`; after: dq*. `upwind` shows the layer below the box along each axis,
/// on whose values the first cells depend; where `open[axis]` is false nothing is read there and dq is taken
/// as zero. (The views of own cells and of the layer may be the same.) q is read in the same layer.
template <int Dim>
void forward_sweep(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme,
                   const Diagonals& diagonals, const std::array<bool, 3>& open, const Upwind& upwind,
                   const Unknowns& unknowns);

/// Before: dq*; after: dq. `upwind` shows the layer above the box.
template <int Dim>
void backward_sweep(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme,
                    const Diagonals& diagonals, const std::array<bool, 3>& open, const Upwind& upwind,
                    const Unknowns& unknowns);

/// What update() did.
struct UpdateCount {
    long limited = 0;  ///< cells whose change was scaled down
    long impossible =
        0;  ///< cells where density or pressure is not positive (or not a number) even so: a failed step
    Int3 first{};  ///< the first of the impossible, of none limited: of the limited
};

/// q += dq and nu~ += dnu~, in own cells. Where density or pressure would change by more than `most` of
/// itself, the whole change of the cell is scaled down. nu~ of the standard form does not fall below zero
/// (that of the negative form may); k and omega fall to a tenth at most.
template <int Dim>
UpdateCount update(const Box& cells, const Scheme& scheme, double most, const FieldView<const double>& dq,
                   const FieldView<const double>& dnu_tilde, const FieldView<double>& q,
                   const FieldView<double>& nu_tilde);

}  // namespace strata::flow
