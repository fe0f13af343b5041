// What pairs beyond the cutoff add to energy and pressure of a Lennard-Jones fluid, where they are taken to
// be spread evenly (g(r) = 1): M. P. Allen, D. J. Tildesley, Computer Simulation of Liquids (2nd ed., 2017),
// equations 2.144 and 2.146; for mixtures H. Sun, J. Phys. Chem. B 102 (1998) 7338 (LAMMPS's
// `pair_modify tail yes`).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solvers/md/potentials/species.hpp"

namespace strata::md {

/// energy = `energy` / volume; trace of the virial (sum of r_ij f_ij) = `virial` / volume. Both change with
/// the volume alone, so a barostat needs no more than these.
struct LongRange {
    double energy = 0, virial = 0;
};

/// One pair: integrals over r > r_c, with s = sigma / r_c:
///   2 pi integral u(r) r^2 dr      = 8/9 pi epsilon sigma^3 (s^9 - 3 s^3)
///   2 pi integral -u'(r) r^3 dr    = 16/3 pi epsilon sigma^3 (2 s^9 - 3 s^3)
/// (The second is three times the pressure's: p V = trace / 3.)
[[nodiscard]] LongRange long_range_of_pair(double epsilon, double sigma, double cutoff);

/// All of it: the sum over a and b of N_a N_b times that of the pair.
[[nodiscard]] LongRange long_range(const LennardJones& pairs, std::span<const std::int64_t> atoms);

}  // namespace strata::md
