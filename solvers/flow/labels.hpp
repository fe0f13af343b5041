// The quantities of this solver.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/declare/graph.hpp"
#include "solvers/flow/boundary/mass_flow.hpp"
#include "solvers/flow/output/rotor.hpp"
#include "solvers/flow/output/surface.hpp"
#include "solvers/flow/output/walls.hpp"
#include "solvers/flow/overset.hpp"

namespace strata::flow {

using graph::Field;
using graph::List;
using graph::Scalar;

/// Sums of squares of R / V: of rho, rho u (all directions together), rho E, and the turbulence model's
/// equations.
inline constexpr int kNorms = 5;
using Norms = std::array<double, kNorms>;

/// What a step would do to cells: how many it changes by more than it may, and how many to no number.
using Changes = std::array<double, 2>;

using OutletSums = std::array<double, kOutletSums>;

/// Of one grid. Those of an iteration are its own: a grid that a multigrid cycle visits several times has
/// them anew for each visit (memory is shared where they do not live at the same time).
struct Labels {
    // Made at the start
    Field<double> x;         // nodes, for field files
    List<double> geometry;   // PatchGeometry
    Field<double> centres;   // with mirror images beyond boundaries
    Field<double> volumes;   // the same
    Field<double> distance;  // to the nearest wall, where there is a turbulence model
    List<double> moved;      // of a grid that moves: the geometry at the end of the step

    // The state, with two layers beyond boundaries
    Field<double> q;                // rho, rho u, rho E
    Field<double> nu_tilde;         // Spalart and Allmaras' variable, or Menter's k and omega
    Field<double> viscosity;        // of the implicit step (Diagonals::viscosity), one layer; with Menter's
                                    // model also the turbulent viscosity (kEddy)
    Field<double> old, nu_old;      // unsteady: at the end of the step before, which keeps the one before it
    Field<double> older, nu_older;  // the one before it, where cells come out of holes

    // Within an iteration: first the residual, then dq* and dq
    Field<double> dq, dnu;
    Field<double> diagonal, diagonal_nu;
    /// Where lines are solved, of each pass over them; nu_tilde has the last components of changes.
    struct Lines {
        Field<double> factors, eliminated, changed;
    };
    std::array<Lines, 3> lines;
    Field<double> line_matrix;  // D of each cell, found in the first pass

    // Within a multigrid cycle
    Field<double> defect;      // R of the state at the end of the iterations, which goes to the coarser grid
    List<double> restricted;   // state, defect, nu_tilde (or mu_t) on the coarser grid's cells of this patch
    Field<double> before;      // coarser grid: the state that it got
    Field<double> forcing;     // coarser grid: what is added to its residual; at first the defect that it got
    Field<double> correction;  // finer grid: what each cell's parent has changed by
    Field<double> smooth_correction;  // the same between parents

    Scalar<Norms> norms;
    Scalar<Changes> changes;
    Scalar<double> share;                // of the CFL number, after failed steps
    Scalar<double> failures;             // so far
    Scalar<double> verdict;              // 1: the step is not made
    Scalar<std::array<double, 2>> drop;  // unsteady: of the residual in this step, and its first value

    std::map<std::string, Scalar<OutletSums>> outlets;  // of each boundary of kind mass-outflow

    Scalar<WallSums> wall_sums;
    Scalar<WallExtremes> wall_extremes;
    Scalar<StationSums> stations;  // of a rotor

    std::shared_ptr<OversetLabels> overset;  // where meshes overlap

    Scalar<double> departure;      // the largest from the far field, where the case asks for it
    Scalar<double> squared_error;  // of the density, by volume, where the case asks for it
    Scalar<double> volume;
};

/// Where the case asks for them: means over time and root-mean-square departures, by turns.
struct MeanLabels {
    std::vector<Field<double>> fields;   // of density, velocity, pressure
    std::vector<Scalar<double>> forces;  // of lift, drag, moment
};

/// Components of the vorticity, and the Q criterion.
template <int Dim>
inline constexpr int kVortexNumbers = Dim == 3 ? 4 : 2;

/// What is shown of the finest grid beside the state.
struct Shown {
    SurfaceLabels surface;  // where there are walls
    bool walls = false;
    Field<double> vorticity, criterion;  // where the case asks for them
    List<double> at_nodes;               // the state at a patch's nodes, where the case asks for PLOT3D
    List<double> vortices_at_nodes;      // and, for slices, vorticity and Q criterion there
    List<std::int32_t> iblank;           // and, of meshes that overlap, what PLOT3D says of nodes
    std::vector<Scalar<double>> probes;  // columns of the series
    MeanLabels means;
};

/// Columns of the series: of the grid that is at work.
struct Report {
    Scalar<double> residual, residual_momentum, residual_energy;
    std::vector<Scalar<double>> residual_model;  // of each equation of the turbulence model
    Scalar<double> lift, drag, moment, cfl, failures;
    Scalar<double> thrust, power;     // of a rotor
    Scalar<double> largest_residual;  // so far, on this grid
    Scalar<double> time;
    Scalar<std::int32_t> done;
};

}  // namespace strata::flow
