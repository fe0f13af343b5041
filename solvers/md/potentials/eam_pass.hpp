// The two passes of the embedded-atom method over the pairs of a patch:
//
//   1. add_densities: rho of own atoms and of the halo's, which goes back to the patches that have these
//   2. embed: F and F' of own atoms; the others see F' through their halos
//   3. add_eam_forces: from F' of both atoms of each pair
#pragma once

#include <cstdint>

#include "solvers/md/pair/pairs.hpp"
#include "solvers/md/potentials/eam.hpp"

namespace strata::md {

/// Adds to rho[sight.all].
void add_densities(const Pairs& pairs, const Sight& sight, const Eam& eam, double* rho);

/// Writes F' of `count` atoms; returns the sum of their F. species: none: all are 0.
double embed(const Eam& eam, const std::int32_t* species, const double* rho, std::int64_t count,
             double* slopes);

/// Adds to f. Where `sums` says so, energy and virial of pairs alone (the embedding energy is embed()'s, its
/// virial is in here).
Sums add_eam_forces(const Pairs& pairs, const Sight& sight, const Eam& eam, const double* slopes, bool sums,
                    double* const f[3]);

}  // namespace strata::md
