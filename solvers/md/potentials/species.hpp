// Kinds of atoms, and what pairs of them have: epsilon and sigma of Lennard-Jones, mixed or given.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "solvers/md/pair/pairs.hpp"

namespace strata::md {

/// A kind of atoms.
struct Species {
    std::string name;
    double mass = 1;
    double epsilon = 1, sigma = 1;
};

/// A pair of kinds with numbers of its own, instead of mixed ones.
struct ExplicitPair {
    std::size_t a = 0, b = 0;
    double epsilon = 1, sigma = 1;
    double cutoff = 0;  // 0: that of all pairs
};

enum class Mixing {
    /// epsilon = sqrt(e1 e2), sigma = (s1 + s2) / 2: H. A. Lorentz, Ann. Phys. 248 (1881) 127; D. Berthelot,
    /// Comptes rendus 126 (1898) 1703. LAMMPS: pair_modify mix arithmetic.
    lorentz_berthelot,
    /// epsilon = sqrt(e1 e2), sigma = sqrt(s1 s2): what LAMMPS does by itself.
    geometric
};

/// Throws Error where a pair names a kind that is not there, or is given twice.
[[nodiscard]] LennardJones mixed(const std::vector<Species>& kinds, Mixing rule, double cutoff, Shift shift,
                                 const std::vector<ExplicitPair>& pairs = {});

[[nodiscard]] double largest_cutoff(const LennardJones& pairs);

}  // namespace strata::md
