// The first atoms: on a lattice, with random velocities. Each patch makes its own, and no process knows of
// others.
#pragma once

#include <vector>

#include "solvers/md/settings.hpp"

namespace strata::md {

struct Atom {
    std::int64_t id;  // by its place on the lattice
    Real3 x, v;
    std::int32_t kind = 0;
};

/// The atoms of a patch, in the order of cells and numbers as relocations leave them; velocities of the
/// temperature on average.
[[nodiscard]] std::vector<Atom> atoms_of(const Settings& s, const graph::Grid& grid, int patch);

/// How far the site of a lattice that is nearest to its middle is from there.
[[nodiscard]] double way_to_middle(const Settings& s);

}  // namespace strata::md
