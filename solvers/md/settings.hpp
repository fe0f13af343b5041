// What a case of this solver may say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/declare/family.hpp"
#include "core/run/case/case.hpp"
#include "solvers/md/pair/pairs.hpp"

namespace strata::md {

using graph::Int3;
using graph::Real3;

/// In reduced units: lengths in sigma, energies in epsilon, masses in that of an atom. The values before
/// reading are the defaults.
struct Settings {
    // The start
    std::string lattice = "fcc";
    std::vector<std::int64_t> cells;
    double density = 0;
    std::vector<double> box;  // none: as large as the lattice
    double sphere = 0;        // radius; 0: the whole lattice
    double temperature = 0;
    std::int64_t seed = 1;
    std::vector<std::int64_t> patches;  // none: by patch_atoms
    std::int64_t patch_atoms = 8000;

    // The potential
    double epsilon = 1, sigma = 1, cutoff = 2.5;
    std::string shift = "none", precision = "mixed";
    bool long_range = false;

    double skin = 0.3;
    std::int64_t every = 0;
    double margin = 0.1;

    double step = 0.005;
    std::int64_t steps = 0;
    std::int64_t thermo = 100;

    std::string thermostat = "none";
    double thermostat_temperature = 0, thermostat_time = 1;

    double drift_limit = 0;

    /// Made from the above by complete().
    Real3 length{};
    Int3 counts{};  // of patches

    [[nodiscard]] double reach() const { return cutoff + skin; }
    [[nodiscard]] double volume() const { return length[0] * length[1] * length[2]; }
    /// Atoms of a cell of the lattice, and its width.
    [[nodiscard]] int basis() const { return lattice == "fcc" ? 4 : lattice == "bcc" ? 2 : 1; }
    [[nodiscard]] double spacing() const;
    [[nodiscard]] graph::GridShape grid() const;
    [[nodiscard]] LennardJones potential() const;
    [[nodiscard]] Precision arithmetic() const {
        return precision == "mixed" ? Precision::mixed : Precision::full;
    }
    [[nodiscard]] bool langevin() const { return thermostat == "langevin"; }
    /// Whether all velocities are scaled by one factor.
    [[nodiscard]] bool rescales() const { return thermostat == "v-rescale" || thermostat == "nose-hoover"; }
    /// Three for each atom; friction and noise alone leave the motion of all atoms together.
    [[nodiscard]] double degrees_of_freedom(std::int64_t atoms) const {
        return 3 * static_cast<double>(atoms) - (langevin() ? 0 : 3);
    }
    /// Whether the thermodynamic quantities are found in this step.
    [[nodiscard]] bool due(std::int64_t at) const { return at % thermo == 0 || at == steps; }
};

/// The keys, bound to the settings, which must outlive them.
[[nodiscard]] graph::CaseSchema schema(Settings& settings);

/// Finds out what no key says alone, and refuses what cannot be. Throws Error with the key's place.
void complete(Settings& settings, const graph::CaseSchema& schema);

}  // namespace strata::md
