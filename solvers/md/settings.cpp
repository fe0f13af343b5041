#include "solvers/md/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "solvers/md/files/frame_format.hpp"

namespace strata::md {

namespace {

using graph::CaseSchema;

void add_trajectory_forms(CaseSchema& keys, Settings& s) {
    std::vector<std::string> names;
    std::string files;
    for (const TrajectoryForm& form : kTrajectoryForms) {
        const char* const before = names.empty() ? "" : &form == &kTrajectoryForms.back() ? " and " : ", ";
        names.emplace_back(form.name);
        files += fmt::format("{}trajectory.{}", before, form.name);
        if (!form.about.empty()) files += fmt::format(" ({})", form.about);
    }
    const std::size_t most = names.size();
    keys.key("trajectory.forms", &s.trajectories,
             {.choices = std::move(names),
              .entries = {0, most},
              .decides = false,
              .meaning = fmt::format("positions of all atoms in {} of the run's folder", files)});
}

void add_system_keys(CaseSchema& keys, Settings& s) {
    keys.key("system.units", &s.units_name,
             {.choices = units_names(), .meaning = "as LAMMPS's: reduced; A, ps, eV; or A, fs, kcal/mol"});
    keys.key("system.file", &s.file,
             {.meaning =
                  "a state to begin with: a LAMMPS data file, extended XYZ (.xyz, .extxyz), or a checkpoint "
                  "of another case (RUN/checkpoint-NNNNNN); none: a lattice"});
    keys.key("system.lattice", &s.lattice,
             {.choices = {"fcc", "bcc", "sc"},
              .meaning = "on which atoms are at first: cubic, face-centred, "
                         "body-centred or simple"});
    keys.key("system.cells", &s.cells,
             {.least = 1,
              .most = 1 << 14,
              .entries = {0, 3},
              .meaning = "of the lattice, in each direction; 4, 2 or 1 atoms each"});
    keys.key("system.density", &s.density,
             {.unit = "1/sigma3", .least = 0, .meaning = "atoms of the lattice in a unit of volume"});
    keys.key(
        "system.sphere", &s.sphere,
        {.unit = "sigma",
         .least = 0,
         .meaning = "radius of a droplet that is cut out of the lattice's middle; 0: all of the lattice"});
    keys.key("system.box", &s.box,
             {.unit = "sigma",
              .least = 0,
              .above_least = true,
              .entries = {0, 3},
              .meaning = "the box, with the lattice in its middle; none: that of the lattice"});
    keys.key("system.shift", &s.shift_by,
             {.unit = "sigma", .entries = {0, 3}, .meaning = "of the lattice from there; none: 0"});
    keys.key("system.temperature", &s.temperature,
             {.unit = "epsilon/k",
              .least = -1,
              .meaning = "of the first velocities, exactly; their sum is 0. Below 0: those of system.file"});
    keys.key("system.seed", &s.seed, {.least = 0, .most = 4294967295.0, .meaning = "of random numbers"});
    keys.key("system.patches", &s.patches,
             {.least = 1,
              .most = 1 << 10,
              .entries = {0, 3},
              .meaning = "in each direction; none: by patch_atoms"});
    keys.key("system.patch_atoms", &s.patch_atoms,
             {.least = 1, .most = 1 << 30, .meaning = "about so many atoms on a patch"});
}

void add_kind_keys(CaseSchema& keys, Settings& s) {
    keys.key("kinds.names", &s.names,
             {.entries = {1, 64}, .meaning = "of the kinds of atoms, as in files; of setfl files elements"});
    keys.key("kinds.masses", &s.given_masses,
             {.least = 0,
              .above_least = true,
              .entries = {0, 64},
              .meaning = "none: those of the state's or the potential's file; in reduced units else 1"});
    keys.key("kinds.epsilon", &s.epsilons,
             {.unit = "epsilon", .least = 0, .entries = {0, 64}, .meaning = "depth of the well; none: 1"});
    keys.key("kinds.sigma", &s.sigmas,
             {.unit = "sigma",
              .least = 0,
              .above_least = true,
              .entries = {0, 64},
              .meaning = "where the potential is 0; none: 1"});
    keys.key("kinds.mixing", &s.mixing,
             {.choices = {"lorentz-berthelot", "geometric"}, .meaning = "of unlike kinds"});
    keys.key(
        "kinds.pairs", &s.explicit_pairs,
        {.entries = {0, 4096},
         .meaning = "\"A B epsilon sigma\" or \"A B epsilon sigma cutoff\" with names: instead of mixing"});
}

void add_pair_keys(CaseSchema& keys, Settings& s) {
    keys.key(
        "pair.form", &s.form,
        {.choices = {"lj", "eam", "table"},
         .meaning = "Lennard-Jones; the embedded-atom method of a setfl file; tables of energy and force"});
    keys.key("pair.file", &s.potential_file,
             {.meaning = "eam: the setfl file (LAMMPS's eam/alloy), which has the cutoff; table: a file of "
                         "LAMMPS's pair_style table"});
    keys.key("pair.sections", &s.sections,
             {.entries = {0, 4096},
              .meaning = "table: \"A B SECTION\" or \"A B SECTION CUTOFF\" for each pair of kinds; without a "
                         "cutoff to the section's end"});
    keys.key("pair.interpolation", &s.interpolation,
             {.choices = {"spline", "linear"}, .meaning = "table: by r^2 between points, as LAMMPS's"});
    keys.key(
        "pair.points", &s.points,
        {.least = 2, .most = 1 << 24, .meaning = "table: so many values, made of the file's by splines"});
    keys.key("pair.cutoff", &s.cutoff, {.unit = "sigma", .least = 0, .above_least = true, .meaning = ""});
    keys.key("pair.shift", &s.shift,
             {.choices = {"none", "energy", "force"},
              .meaning = "truncated; potential shifted to 0 at the cutoff; force as well"});
    keys.key(
        "pair.precision", &s.precision,
        {.choices = {"mixed", "double"}, .meaning = "mixed: arithmetic of a pair in float, sums in double"});
    keys.key("pair.long_range", &s.long_range,
             {.meaning = "energy and pressure with what an even fluid beyond the cutoff adds"});
    keys.key("neighbours.skin", &s.skin,
             {.unit = "sigma",
              .least = 0,
              .above_least = true,
              .meaning = "pairs up to cutoff + skin are listed"});
    keys.key("neighbours.every", &s.every,
             {.least = 0,
              .most = 1e6,
              .meaning = "0: lists are made anew when an atom has moved half the skin, so no pair is missed; "
                         "else in every so many steps"});
    keys.key("neighbours.drift", &s.drift,
             {.unit = "epsilon/tau",
              .least = 0,
              .meaning = "with neighbours.every: the skin is as wide as keeps the drift of an atom's energy "
                         "by pairs that are missed below this (an estimate); 0: neighbours.skin"});
    keys.key("neighbours.margin", &s.margin,
             {.unit = "sigma",
              .least = 0,
              .meaning = "lists are pruned to cutoff + margin, again when atoms have moved half of it; 0: "
                         "never. Does not change results"});
}

void add_barostat_keys(CaseSchema& keys, Settings& s) {
    keys.key("barostat.kind", &s.barostat,
             {.choices = {"none", "c-rescale"},
              .meaning = "the box stays; or it is scaled by Bernetti and Bussi's stochastic cell rescaling, "
                         "beside a thermostat"});
    keys.key("barostat.pressure", &s.pressure,
             {.unit = "epsilon/sigma3", .meaning = "the one that is kept on average"});
    keys.key("barostat.time", &s.barostat_time,
             {.unit = "tau",
              .least = 0,
              .above_least = true,
              .meaning = "in which the volume forgets what it was, if the compressibility is right"});
    keys.key("barostat.compressibility", &s.compressibility,
             {.unit = "sigma3/epsilon",
              .least = 0,
              .meaning = "about that of the atoms. It says how fast volumes change, not which ones come"});
    keys.key("barostat.every", &s.barostat_every,
             {.least = 1, .most = 1e6, .meaning = "the box is scaled in every so many steps"});
    keys.key(
        "barostat.least", &s.least_scale,
        {.least = 0.1,
         .most = 1,
         .meaning = "the box may shrink to so much of its first length; halos are as wide as that needs"});
}

void add_motion_keys(CaseSchema& keys, Settings& s) {
    keys.key("time.method", &s.method,
             {.choices = {"verlet", "fire"},
              .meaning = "motion in time, or the way to the next minimum of the energy"});
    keys.key("time.remove_drift", &s.remove_drift,
             {.least = 0,
              .most = 1e9,
              .meaning = "the motion of all atoms together is taken away in every so many steps; 0: never"});
    keys.key("minimise.force", &s.least_force,
             {.unit = "epsilon/sigma",
              .least = 0,
              .above_least = true,
              .restart = graph::Restart::end,
              .meaning = "fire: the run ends where no atom has a larger force"});
    keys.key("minimise.way", &s.longest_way,
             {.unit = "sigma", .least = 0, .above_least = true, .meaning = "fire: the longest of a step"});
}

}  // namespace

void declare_keys(CaseSchema& keys, Settings& s) {
    keys.instead_of_restart(
        "or begin a new case with the state, for another thermostat, say: system.file = "
        "\"RUN/checkpoint-NNNNNN\"");
    add_system_keys(keys, s);
    add_kind_keys(keys, s);
    add_pair_keys(keys, s);
    s.outside.add_keys(keys);
    keys.key("thermostat.kind", &s.thermostat,
             {.choices = {"none", "langevin", "v-rescale", "nose-hoover"},
              .meaning = "energy is conserved; friction and noise; Bussi's rescaling of all velocities; "
                         "Nose-Hoover chains of three"});
    keys.key("thermostat.temperature", &s.thermostat_temperature,
             {.unit = "epsilon/k", .least = 0, .meaning = ""});
    keys.key(
        "thermostat.time", &s.thermostat_time,
        {.unit = "tau",
         .least = 0,
         .above_least = true,
         .meaning = "langevin: 1 / friction; v-rescale: in which the kinetic energy forgets what it was; "
                    "nose-hoover: 1 / its angular frequency"});
    add_barostat_keys(keys, s);
    add_motion_keys(keys, s);
    keys.key("time.step", &s.step, {.unit = "tau", .least = 0, .above_least = true, .meaning = ""});
    keys.key("time.steps", &s.steps,
             {.least = 1,
              .most = 1e12,
              .required = true,
              .decides = false,
              .restart = graph::Restart::end,
              .meaning = "until the end"});
    keys.key("output.thermo", &s.thermo,
             {.least = 1,
              .most = 1e9,
              .decides = false,
              .meaning = "energies, temperature and pressure in every so many steps, and in the last one"});
    add_trajectory_forms(keys, s);
    keys.key("trajectory.steps", &s.trajectory_every,
             {.least = 1, .most = 1e9, .decides = false, .meaning = "from one frame to the next"});
    keys.key("trajectory.digits", &s.digits,
             {.least = 1, .most = 17, .decides = false, .meaning = "of positions in xyz; 17: exact"});
    keys.key("verify.drift", &s.drift_limit,
             {.unit = "epsilon",
              .least = 0,
              .decides = false,
              .meaning = "largest change of the total energy from the start to the end, for each atom; 0: "
                         "nothing is verified, and a run beyond 1 % of the kinetic energy fails"});
}

CaseSchema schema(Settings& s) {
    CaseSchema keys(kSolver, kSummary);
    declare_keys(keys, s);
    return keys;
}

std::vector<double> Settings::mass_shares() const {
    std::vector<double> shares;
    for (const Species& kind : kinds) shares.push_back(kind.mass / mass());
    return shares;
}

double Settings::spacing() const { return std::cbrt(basis() / density); }

graph::GridShape Settings::grid() const {
    graph::GridShape shape;
    // Atoms of a patch are in the order of cells: so many that a cell has a few.
    const double wanted = std::cbrt(8 / density);
    for (std::size_t a = 0; a < 3; ++a) {
        const double patch = length[a] / counts[a];
        shape.patch_cells[a] = std::max(1, static_cast<int>(patch / wanted));
        shape.cells.hi[a] = counts[a] * shape.patch_cells[a];
        shape.spacing[a] = length[a] / shape.cells.hi[a];
        shape.periodic[a] = outside.periodic(a);
        shape.origin[a] = low[a];
    }
    return shape;
}

LennardJones Settings::potential() const {
    const Shift how = shift == "none" ? Shift::none : shift == "energy" ? Shift::energy : Shift::force;
    return mixed(kinds, mixing == "geometric" ? Mixing::geometric : Mixing::lorentz_berthelot, cutoff, how,
                 pairs);
}

}  // namespace strata::md
