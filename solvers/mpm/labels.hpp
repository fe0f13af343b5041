// The quantities of this solver.
#pragma once

#include "core/graph/declare/graph.hpp"
#include "solvers/mpm/growth.hpp"

namespace strata::mpm {

using graph::Field;
using graph::List;
using graph::Particles;
using graph::Scalar;

struct Labels {
    const graph::Grid* grid = nullptr;
    const double* cfl = nullptr;  // may be steered
    graph::SetId set;             // of particles: the material points

    // Of particles, kept
    Particles<std::int64_t> id;
    Particles<double> x, v;          // position, velocity
    Particles<double> mass, volume;  // volume: undeformed
    Particles<double> F;             // deformation gradient, row by row
    Particles<double> C;             // APIC: velocity's gradient that is carried along, row by row
    Particles<std::int32_t> material;
    Particles<double> elastic;        // where materials are plastic: left Cauchy-Green tensor, as stresses
    Particles<double> alpha;          // and its equivalent plastic strain
    Particles<double> area;           // where surfaces are loaded: that a point has of one, undeformed
    Particles<std::int32_t> surface;  // and of which; -1: of none
    Particles<std::int32_t> group;    // where bodies are in contact: its velocity field
    Particles<double> X;              // where an exact solution is known: undeformed position
    Particles<double> load;           // force of its own, where the case has such forces

    // Of particles, within a step
    Particles<double> stress;  // Kirchhoff's: xx, yy, zz, xy, yz, zx
    Particles<double> J;       // det F, where forces are integrals over cells

    // Of cells, within a step, where forces are integrals over them: sums over particles (quadrature.hpp)
    Field<double> cell_sums;

    // Of grid points, within a step; of each group of bodies in contact these components, one after the other
    Field<double> nodal;         // momentum in x, y, z, and mass
    Field<double> gradient;      // where there is contact: of the mass
    Field<double> force;         // internal, and loads
    Field<double> velocity;      // before the step
    Field<double> acceleration;  //
    Field<double> next_velocity;
    Field<double> change;  // FLIP: of the velocity
    Field<double> affine;  // APIC with linear functions: the next velocity as C sees it

    Scalar<double> wave_rate, flow_rate;   // cells a second, of the fastest wave and the fastest point
    Scalar<double> dt, time;               // the module's clock
    Scalar<double> kinetic, strain, work;  // at the beginning of the step: energies, work of loads so far
    Scalar<double> first_energy;           // kinetic and strain energy at the beginning of the first step
    Scalar<double> work_of_step;
    Scalar<double> rubbed, rubbed_in_step;  // what friction between bodies has taken so far, and in a step
    Scalar<double> plastic_work;            // that was taken up by plastic flow
    Scalar<double> momentum_x, momentum_y, momentum_z;
    Scalar<double> error;  // sum of mass x (displacement - exact one)^2
    Scalar<double> total_mass;
    Scalar<double> given;                       // largest energy that start and loads have given so far
    Scalar<std::array<double, kAlarms>> alarm;  // what of the step is no physics (growth.hpp)
};

}  // namespace strata::mpm
