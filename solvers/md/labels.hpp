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
    graph::Scalar<double> volume, density;        // where there is a barostat
    graph::Scalar<double> largest_force;          // of a minimisation
    bool has_pressure = true;                     // an open box has none
    std::vector<graph::Scalar<double>> more;      // of what acts from outside
    [[nodiscard]] std::vector<graph::Scalar<double>> all() const {
        std::vector<graph::Scalar<double>> list{temperature, potential, kinetic, total};
        if (has_pressure) {
            list.push_back(pressure);
            list.insert(list.end(), tensor.begin(), tensor.end());
        }
        list.insert(list.end(), {momentum, conserved});
        if (volume.id()) list.insert(list.end(), {volume, density});
        if (largest_force.id()) {
            list = {potential, largest_force};
            if (has_pressure) list.push_back(pressure);
        }
        list.insert(list.end(), more.begin(), more.end());
        return list;
    }
};

/// What acts from outside (outside/outside.hpp); each where the case has it.
struct OutsideLabels {
    graph::Particles<std::int32_t> groups;  // a bit for each
    graph::Particles<double> first_place;   // at the start
    graph::Scalars<std::int64_t> members;   // of each group: atoms that move by forces, and all
    /// Sums of one step: of each face the force on its wall, then the power of what has no potential; energy,
    /// where that is due.
    graph::Scalars<double> now;
    static constexpr std::size_t kPower = 6, kEnergy = 7, kNow = 8;
    graph::Scalars<double> of_groups;  // where they are due: kinetic energy and force of each in the series
    /// Forces on walls since the last row of the series, and the number of these steps; the power of the step
    /// before.
    graph::Scalar<std::array<double, 8>> since;
    graph::Scalar<double> work;  // all that was done on atoms, without a potential
};

struct Labels {
    graph::SetId set;
    graph::Particles<std::int64_t> id;
    graph::Particles<double> x;
    graph::Particles<std::int32_t> species;  // where there are several kinds
    graph::Particles<double> v;              // half a step ahead of x
    graph::Particles<double> force;
    graph::Particles<double> density, slope;  // embedded-atom method: rho and F' of each atom, within a step
    graph::HaloId near;
    graph::Object<Neighbours> neighbours;

    graph::Scalar<std::int64_t> atoms;
    graph::Scalars<std::int64_t> of_kinds;  // atoms of each
    // Of those that move by forces: the same labels where all do
    graph::Scalar<std::int64_t> mobile;
    graph::Scalars<std::int64_t> mobile_of_kinds;
    OutsideLabels outside;
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

    // Where the motion of all atoms together is taken away (momentum.cpp)
    graph::Scalar<std::array<double, 3>> momentum;  // of v as it is kept, in steps in which it is due
    graph::Scalar<std::array<double, 3>> together;  // the velocity that is taken away in the step
    graph::Scalar<double> taken;                    // kinetic energy, in all

    // Where there is a barostat (barostat.hpp). x is a place in the first box: places are `scale` times that.
    graph::Scalar<double> scale;
    graph::Scalar<double> work;  // what belongs to the conserved energy

    // Of a minimisation (fire.hpp)
    graph::Particles<double> ahead;                 // the way of each atom in the next step
    graph::Scalar<std::array<double, 5>> products;  // f v, v v, f a, a a, f f, over all atoms
    graph::Scalar<std::array<double, 3>> largest;   // squares: of an atom's force, acceleration, velocity
    graph::Scalar<std::array<double, 4>> pace;      // what Fire keeps
    graph::Scalar<std::array<double, 5>> course;    // of the next step: Course
    graph::Scalar<std::int32_t> done;               // not 0: the run ends
    Thermo thermo;
};

}  // namespace strata::md
