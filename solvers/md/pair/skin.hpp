// The skin that lists need where they are made at fixed intervals.
#pragma once

#include "solvers/md/pair/pairs.hpp"

namespace strata::md {

/// What atoms do between two rebuilds. In the units of the potential.
struct Between {
    double density = 0;  ///< atoms in a unit of volume
    double heat = 0;     ///< k T / m of the lightest atoms: of one component of velocity, squared
    double time = 0;     ///< from one rebuild to the next
};

/// The energy of an atom that is missed at the end of that time, at most, as pairs have come nearer than the
/// cutoff that were farther apart than cutoff + skin: atoms fly freely, around each others are even, and the
/// potential is expanded to third order at the cutoff (S. Pall, B. Hess, Comput. Phys. Commun. 184 (2013)
/// 2641, section 3.2). Of several species the pair with the largest value counts for all.
[[nodiscard]] double missed_energy(const LennardJones& potential, const Between& between, double skin);

/// The least skin with which the missed energy is at most `drift` times the time between two rebuilds.
/// drift: energy of an atom in a unit of time, above 0.
[[nodiscard]] double skin_for(const LennardJones& potential, const Between& between, double drift);

}  // namespace strata::md
