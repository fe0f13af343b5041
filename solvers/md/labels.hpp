// The quantities of this solver.
#pragma once

#include <array>

#include "core/graph/declare/graph.hpp"
#include "solvers/md/neighbours.hpp"
#include "solvers/md/thermostat.hpp"

namespace strata::md {

/// Sums over all atoms, of steps in which they are due.
enum Sum : std::size_t {
    kPotential,
    kVirial,
    kKinetic = kVirial + 6,
    kMomentum = kKinetic + 6,
    kSums = kMomentum + 3
};

struct Thermo {
    graph::Scalar<double> temperature, potential, kinetic, total, pressure;
    std::array<graph::Scalar<double>, 6> tensor;  // of the pressure: xx yy zz xy xz yz
    graph::Scalar<double> momentum;               // its modulus
    graph::Scalar<double> conserved;              // total, without what a thermostat gave
    graph::Scalar<double> first;                  // conserved energy at the start
    [[nodiscard]] std::vector<graph::Scalar<double>> all() const {
        std::vector<graph::Scalar<double>> list{temperature, potential, kinetic, total, pressure};
        list.insert(list.end(), tensor.begin(), tensor.end());
        list.insert(list.end(), {momentum, conserved});
        return list;
    }
};

struct Labels {
    graph::SetId set;
    graph::Particles<std::int64_t> id;
    graph::Particles<double> x;
    graph::Particles<double> v;  // half a step ahead of x
    graph::Particles<double> force;
    graph::HaloId near;
    graph::Object<Neighbours> neighbours;

    graph::Scalar<std::int64_t> atoms;
    graph::Scalar<double> time;
    /// Squares: of the longest way in the step; of the farthest since the lists were made, where that may be
    /// more than half the skin.
    graph::Scalar<std::array<double, 2>> moved;
    graph::Scalar<double> way;  // a bound of what atoms have moved since the lists were made
    graph::Scalar<std::int32_t> turn;
    graph::Scalar<std::int64_t> rebuilds;
    graph::Scalars<double> sums;

    // Where there is a thermostat
    graph::Scalar<double> half_kinetic;  // kinetic energy of v as it is kept
    graph::Scalar<double> factor;        // of velocities
    graph::Scalar<double> gained;        // what friction and noise gave in the step,
    graph::Scalar<double> heat;          // and all that a thermostat has given
    graph::Scalar<std::array<double, 2 * Chain::kLinks>> chain;
    Thermo thermo;
};

}  // namespace strata::md
