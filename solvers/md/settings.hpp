// What a case of this solver may say.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/declare/graph.hpp"
#include "core/run/case/case.hpp"
#include "solvers/md/files/atom_rows.hpp"
#include "solvers/md/outside/outside.hpp"
#include "solvers/md/pair/pairs.hpp"
#include "solvers/md/potentials/eam.hpp"
#include "solvers/md/potentials/species.hpp"
#include "solvers/md/potentials/table.hpp"
#include "solvers/md/units.hpp"

namespace strata::md {

using graph::Int3;
using graph::Real3;

inline constexpr const char* kSolver = "md";
inline constexpr const char* kSummary = "Molecular dynamics: Lennard-Jones fluids, tabulated pairs, metals.";

/// In the units of the case (units.hpp). The values before reading are the defaults.
struct Settings {
    std::string units_name = "lj";
    // Of each kind of atoms; masses: none: those of a file, or in reduced units 1
    std::vector<std::string> names{"X"};
    std::vector<double> given_masses, epsilons, sigmas;
    std::vector<std::string> explicit_pairs;
    std::string mixing = "lorentz-berthelot";

    // The start
    std::string file;  // with a state; none: a lattice
    std::string lattice = "fcc";
    std::vector<std::int64_t> cells;
    double density = 0;
    std::vector<double> box;       // none: as large as the lattice
    std::vector<double> shift_by;  // of the lattice from the middle of the box; none: 0
    double sphere = 0;             // radius; 0: the whole lattice
    double temperature = -1;       // below 0: velocities of the file
    std::int64_t seed = 1;
    std::vector<std::int64_t> patches;  // none: by patch_atoms
    std::int64_t patch_atoms = 8000;

    // The potential
    std::string form = "lj", potential_file;
    std::vector<std::string> sections;  // of a table: for which kinds
    std::string interpolation = "spline";
    std::int64_t points = 2000;
    double cutoff = 2.5;
    std::string shift = "none", precision = "mixed";
    bool long_range = false;

    double skin = 0.3;
    std::int64_t every = 0;
    double drift = 0;  // of the energy, from which the skin follows; 0: the skin is given
    double margin = 0.1;

    double step = 0.005;
    std::int64_t steps = 0;
    std::string method = "verlet";
    std::int64_t remove_drift = 0;
    double least_force = 1e-6, longest_way = 0.1;  // of a minimisation
    std::int64_t thermo = 100;

    std::string thermostat = "none";
    double thermostat_temperature = 0, thermostat_time = 1;

    std::string barostat = "none";
    double pressure = 0, barostat_time = 1, compressibility = 0, least_scale = 0.9;
    std::int64_t barostat_every = 10;

    std::vector<std::string> trajectories;  // their forms
    std::int64_t trajectory_every = 100, digits = 9;

    double drift_limit = 0;

    /// Made from the above by complete().
    const Units* units = &md::units("lj");
    std::vector<Species> kinds{{"X", 1, 1, 1}};
    std::vector<ExplicitPair> pairs;
    std::shared_ptr<const AtomFile> state;  // of `file`
    std::shared_ptr<const Eam> eam;         // of `potential_file`
    std::vector<PairFunction> tables;       // of `potential_file`, for each pair of kinds
    Outside outside;
    Real3 low{}, length{};  // of the box
    Int3 counts{};          // of patches

    [[nodiscard]] bool several_kinds() const { return kinds.size() > 1; }
    /// That of the first kind: masses are counted in it.
    [[nodiscard]] double mass() const { return kinds[0].mass; }
    /// Of each kind.
    [[nodiscard]] std::vector<double> mass_shares() const;
    /// Kinetic energy = kinetic_unit() m v^2 / 2, and acceleration = force / (kinetic_unit() m), with m in
    /// masses of the first kind.
    [[nodiscard]] double kinetic_unit() const { return units->mass_velocity2 * mass(); }
    /// k_B T / m of the thermostat's temperature, as a velocity squared.
    [[nodiscard]] double thermostat_heat() const {
        return units->velocity2_of(thermostat_temperature, mass());
    }
    /// Whether the first velocities are made, of a temperature.
    [[nodiscard]] bool makes_velocities() const { return temperature >= 0; }
    /// The time by which the first velocities are ahead of the first places.
    [[nodiscard]] double ahead() const { return state && !makes_velocities() ? state->ahead() : 0; }
    [[nodiscard]] double farthest_cutoff() const {
        return eam || !tables.empty() ? cutoff : largest_cutoff(potential());
    }
    /// Of lists and halos, in a box as it is at first: as far as the cutoff is in the smallest one.
    [[nodiscard]] double reach() const {
        return farthest_cutoff() / (changes_volume() ? least_scale : 1) + skin;
    }
    /// Whether atoms beyond a border that is not periodic are those of the patches there.
    [[nodiscard]] graph::Beyond beyond() const {
        return outside.all_periodic() ? graph::Beyond::refused : graph::Beyond::owned;
    }
    /// Of the first box.
    [[nodiscard]] double volume() const { return length[0] * length[1] * length[2]; }
    /// Atoms of a cell of the lattice, and its width.
    [[nodiscard]] int basis() const { return lattice == "fcc" ? 4 : lattice == "bcc" ? 2 : 1; }
    [[nodiscard]] double spacing() const;
    [[nodiscard]] graph::GridShape grid() const;
    [[nodiscard]] LennardJones potential() const;
    /// In float no force gets smaller than some 1e-4.
    [[nodiscard]] Precision arithmetic() const {
        return precision == "mixed" && !minimises() ? Precision::mixed : Precision::full;
    }
    [[nodiscard]] bool langevin() const { return thermostat == "langevin"; }
    /// Whether all velocities are scaled by one factor.
    [[nodiscard]] bool rescales() const { return thermostat == "v-rescale" || thermostat == "nose-hoover"; }
    /// Whether velocities change while atoms move.
    [[nodiscard]] bool drift_changes_velocities() const { return thermostat != "none" || outside.reflects(); }
    /// Three for each atom that moves by forces, but for the motion of all together, where that is kept:
    /// friction and noise alone bring it back, and what acts from outside changes it.
    [[nodiscard]] double degrees_of_freedom(std::int64_t atoms) const {
        const bool brings = langevin() && remove_drift == 0;
        return 3 * static_cast<double>(atoms) - (brings ? 0 : outside.kept_momenta());
    }
    [[nodiscard]] bool minimises() const { return method == "fire"; }
    [[nodiscard]] bool changes_volume() const { return barostat != "none"; }
    /// Whether the barostat scales the box in this step, from what the step before has summed up.
    [[nodiscard]] bool scales(std::int64_t at) const { return at > 0 && at % barostat_every == 0; }
    /// Whether the thermodynamic quantities are found in this step.
    [[nodiscard]] bool due(std::int64_t at) const { return minimises() || at % thermo == 0 || at == steps; }
    /// Whether energies and virial are summed up in this step.
    [[nodiscard]] bool sums_due(std::int64_t at) const {
        return due(at) || (changes_volume() && (scales(at) || scales(at + 1)));
    }
};

/// The keys, bound to the settings, which must outlive them.
void declare_keys(graph::CaseSchema& keys, Settings& settings);
/// A schema with these keys alone.
[[nodiscard]] graph::CaseSchema schema(Settings& settings);

/// Finds out what no key says alone, and refuses what cannot be. Throws Error with the key's place.
void complete(Settings& settings, const graph::CaseSchema& schema);

}  // namespace strata::md
