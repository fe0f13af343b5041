#include "solvers/md/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace strata::md {

namespace {

using graph::CaseSchema;

void add_system_keys(CaseSchema& keys, Settings& s) {
    keys.key("system.lattice", &s.lattice,
             {.choices = {"fcc", "bcc", "sc"},
              .meaning = "on which atoms are at first: cubic, face-centred, "
                         "body-centred or simple"});
    keys.key("system.cells", &s.cells,
             {.least = 1,
              .most = 1 << 14,
              .entries = {3, 3},
              .required = true,
              .meaning = "of the lattice, in each direction; 4, 2 or 1 atoms each"});
    keys.key("system.density", &s.density,
             {.unit = "1/sigma3",
              .least = 0,
              .above_least = true,
              .required = true,
              .meaning = "atoms of the lattice in a unit of volume"});
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
              .meaning = "of a droplet: the box, periodic, with the lattice in its middle; none: that of the "
                         "lattice"});
    keys.key("system.temperature", &s.temperature,
             {.unit = "epsilon/k",
              .least = 0,
              .required = true,
              .meaning = "of the first velocities, exactly; their sum is 0"});
    keys.key("system.seed", &s.seed, {.least = 0, .most = 4294967295.0, .meaning = "of random numbers"});
    keys.key("system.patches", &s.patches,
             {.least = 1,
              .most = 1 << 10,
              .entries = {0, 3},
              .meaning = "in each direction; none: by patch_atoms"});
    keys.key("system.patch_atoms", &s.patch_atoms,
             {.least = 1, .most = 1 << 30, .meaning = "about so many atoms on a patch"});
}

void add_pair_keys(CaseSchema& keys, Settings& s) {
    keys.key("pair.epsilon", &s.epsilon, {.unit = "epsilon", .least = 0, .meaning = "depth of the well"});
    keys.key("pair.sigma", &s.sigma,
             {.unit = "sigma", .least = 0, .above_least = true, .meaning = "where the potential is 0"});
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
    keys.key("neighbours.margin", &s.margin,
             {.unit = "sigma",
              .least = 0,
              .meaning = "lists are pruned to cutoff + margin, again when atoms have moved half of it; 0: "
                         "never. Does not change results"});
}

}  // namespace

graph::CaseSchema schema(Settings& s) {
    CaseSchema keys("md", "Molecular dynamics of a Lennard-Jones fluid, in reduced units.");
    add_system_keys(keys, s);
    add_pair_keys(keys, s);
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
    keys.key("time.step", &s.step, {.unit = "tau", .least = 0, .above_least = true, .meaning = ""});
    keys.key("time.steps", &s.steps,
             {.least = 1, .most = 1e12, .required = true, .decides = false, .meaning = "until the end"});
    keys.key("output.thermo", &s.thermo,
             {.least = 1,
              .most = 1e9,
              .decides = false,
              .meaning = "energies, temperature and pressure in every so many steps, and in the last one"});
    keys.key("verify.drift", &s.drift_limit,
             {.unit = "epsilon",
              .least = 0,
              .decides = false,
              .meaning = "largest change of the total energy from the start to the end, for each atom; 0: "
                         "1 % of the kinetic energy"});
    return keys;
}

double Settings::spacing() const { return std::cbrt(basis() / density); }

void complete(Settings& s, const graph::CaseSchema& keys) {
    if (s.box.size() == 1 || s.box.size() == 2) keys.refuse("system.box", "not a box", "3 lengths, or none");
    if (s.patches.size() == 1 || s.patches.size() == 2)
        keys.refuse("system.patches", "not a number for each direction", "3 numbers, or none");
    if (!s.box.empty() && s.sphere == 0)
        keys.refuse("system.box", "the lattice fills its own box", "none, or a droplet (system.sphere)");
    const double edge = std::cbrt(static_cast<double>(s.patch_atoms) / s.density);
    for (std::size_t a = 0; a < 3; ++a) {
        const double lattice = static_cast<double>(s.cells[a]) * s.spacing();
        s.length[a] = s.box.empty() ? lattice : s.box[a];
        if (s.length[a] < lattice)
            keys.refuse("system.box", "smaller than the lattice", fmt::format("{:.6g} or more", lattice));
        if (s.length[a] < 2 * s.cutoff)
            keys.refuse("pair.cutoff", fmt::format("the box is {:.6g} wide", s.length[a]),
                        fmt::format("at most {:.6g}, half of that", s.length[a] / 2));
        if (2 * s.sphere > lattice)
            keys.refuse("system.sphere", "the droplet is larger than the lattice",
                        fmt::format("at most {:.6g}", lattice / 2));
        s.counts[a] = s.patches.empty() ? std::max(1, static_cast<int>(std::lround(s.length[a] / edge)))
                                        : static_cast<int>(s.patches[a]);
    }
    if (s.thermostat != "none" && s.thermostat_temperature == 0)
        keys.refuse("thermostat.temperature", "a thermostat without a temperature", "above 0");
    if (s.long_range && (s.shift != "none" || s.sphere > 0))
        keys.refuse("pair.long_range", "the fluid is neither truncated alone nor even",
                    "false, or shift = \"none\" without a sphere");
}

graph::GridShape Settings::grid() const {
    graph::GridShape shape;
    // Atoms of a patch are in the order of cells: so many that a cell has a few.
    const double wanted = std::cbrt(8 / density);
    for (std::size_t a = 0; a < 3; ++a) {
        const double patch = length[a] / counts[a];
        shape.patch_cells[a] = std::max(1, static_cast<int>(patch / wanted));
        shape.cells.hi[a] = counts[a] * shape.patch_cells[a];
        shape.spacing[a] = length[a] / shape.cells.hi[a];
        shape.periodic[a] = true;
    }
    return shape;
}

LennardJones Settings::potential() const {
    LennardJones all;
    all.epsilon = {epsilon}, all.sigma = {sigma}, all.cutoff = {cutoff};
    all.shift = shift == "none" ? Shift::none : shift == "energy" ? Shift::energy : Shift::force;
    return all;
}

}  // namespace strata::md
