#include "solvers/md/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "solvers/md/files/checkpoint_state.hpp"
#include "solvers/md/files/extended_xyz.hpp"
#include "solvers/md/files/lammps_data.hpp"
#include "solvers/md/files/text.hpp"
#include "solvers/md/pair/skin.hpp"
#include "solvers/md/start.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

namespace strata::md {

namespace {

using graph::CaseSchema;

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

graph::CaseSchema schema(Settings& s) {
    CaseSchema keys("md", "Molecular dynamics: Lennard-Jones fluids, tabulated pairs, metals.");
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
    keys.key("trajectory.forms", &s.trajectories,
             {.choices = {"xyz", "dcd"},
              .entries = {0, 2},
              .decides = false,
              .meaning = "positions of all atoms in trajectory.xyz (extended XYZ) and trajectory.dcd of the "
                         "run's folder"});
    keys.key("trajectory.steps", &s.trajectory_every,
             {.least = 1, .most = 1e9, .decides = false, .meaning = "from one frame to the next"});
    keys.key("trajectory.digits", &s.digits,
             {.least = 1, .most = 17, .decides = false, .meaning = "of positions in xyz; 17: exact"});
    keys.key("verify.drift", &s.drift_limit,
             {.unit = "epsilon",
              .least = 0,
              .decides = false,
              .meaning = "largest change of the total energy from the start to the end, for each atom; 0: "
                         "1 % of the kinetic energy"});
    return keys;
}

std::vector<double> Settings::mass_shares() const {
    std::vector<double> shares;
    for (const Species& kind : kinds) shares.push_back(kind.mass / mass());
    return shares;
}

double Settings::spacing() const { return std::cbrt(basis() / density); }

namespace {

void make_kinds(Settings& s, const graph::CaseSchema& keys) {
    const auto fits = [&](const char* key, const std::vector<double>& list) {
        if (!list.empty() && list.size() != s.names.size())
            keys.refuse(key, fmt::format("{} numbers", list.size()),
                        fmt::format("none, or {}: one for each of kinds.names", s.names.size()));
    };
    fits("kinds.masses", s.given_masses), fits("kinds.epsilon", s.epsilons), fits("kinds.sigma", s.sigmas);
    s.kinds.clear();
    for (std::size_t k = 0; k < s.names.size(); ++k) {
        const auto of = [&](const std::vector<double>& list) { return list.empty() ? 1 : list[k]; };
        const double mass = s.given_masses.empty() ? 0 : s.given_masses[k];  // 0: not known yet
        s.kinds.push_back({s.names[k], mass, of(s.epsilons), of(s.sigmas)});
    }
    s.pairs.clear();
    for (const std::string& text : s.explicit_pairs) {
        const auto words = words_of(text);
        const auto kind = [&](std::size_t w) {
            const auto found =
                w < words.size() ? std::find(s.names.begin(), s.names.end(), words[w]) : s.names.end();
            return static_cast<std::size_t>(found - s.names.begin());
        };
        ExplicitPair pair{kind(0), kind(1), 0, 0, 0};
        double* const numbers[] = {&pair.epsilon, &pair.sigma, &pair.cutoff};
        bool right = words.size() == 4 || words.size() == 5;
        for (std::size_t w = 2; right && w < words.size(); ++w) {
            const auto number = real_of(words[w]);
            right = number && (*number > 0 || (w == 2 && *number == 0));
            if (right) *numbers[w - 2] = *number;
        }
        if (!right || pair.a == s.names.size() || pair.b == s.names.size())
            keys.refuse("kinds.pairs", fmt::format("'{}' is no pair", text),
                        fmt::format("\"A B epsilon sigma\" or \"A B epsilon sigma cutoff\", of {}",
                                    fmt::join(s.names, ", ")));
        for (const ExplicitPair& other : s.pairs)
            if (std::minmax(pair.a, pair.b) == std::minmax(other.a, other.b))
                keys.refuse("kinds.pairs", fmt::format("the pair of '{}' is there twice", text),
                            "each pair once");
        s.pairs.push_back(pair);
    }
    if (s.several_kinds() && s.file.empty())
        keys.refuse("kinds.names", "a lattice has one kind of atoms", "one name, or system.file");
}

/// Those of a file, where the case has none.
void take_masses(Settings& s, const std::vector<double>& masses) {
    for (std::size_t k = 0; s.given_masses.empty() && k < s.kinds.size(); ++k)
        if (masses[k] > 0) s.kinds[k].mass = masses[k];
}

/// Reduced units have a mass of 1 where no kind has one. No atom has one of 1 g/mol because nobody has said
/// another, nor where a file has those of other kinds.
void need_masses(Settings& s, const graph::CaseSchema& keys) {
    const bool some =
        std::any_of(s.kinds.begin(), s.kinds.end(), [](const Species& k) { return k.mass > 0; });
    for (Species& kind : s.kinds) {
        if (kind.mass > 0) continue;
        if (some || s.units_name != "lj")
            keys.refuse("kinds.masses", fmt::format("no mass of {}, neither here nor in a file", kind.name),
                        fmt::format("a mass in {} for each of kinds.names, here or in the section Masses of "
                                    "a LAMMPS data file",
                                    s.units->mass));
        kind.mass = 1;
    }
}

/// A file that says its units says those of the case: its numbers are taken as they are.
void check_units(const Settings& s, const graph::CaseSchema& keys, const char* key, const std::string& file) {
    const std::string said = said_units(file);
    if (!said.empty() && said != s.units_name)
        keys.refuse(
            key,
            fmt::format("the file says that it is in units {}, and the case is in {}", said, s.units_name),
            fmt::format("a file in {0}, or system.units as the file's (of {1})", s.units_name,
                        fmt::join(units_names(), ", ")));
}

/// For each pair of kinds, of both orders.
void read_tables(Settings& s, const graph::CaseSchema& keys) {
    const std::string form = fmt::format(
        "\"A B SECTION\" or \"A B SECTION CUTOFF\", once for each pair of {}", fmt::join(s.names, ", "));
    if (s.potential_file.empty())
        keys.refuse("pair.file", "a tabulated potential needs a table",
                    "a file of LAMMPS's pair_style table");
    const std::filesystem::path table = keys.path("pair.file", s.potential_file);
    check_units(s, keys, "pair.file", table);
    if (s.long_range) keys.refuse("pair.long_range", "this potential ends at its cutoff", "false");
    if (s.shift != "none") keys.refuse("pair.shift", "a table says itself where it is 0", "none");
    const std::size_t n = s.names.size();
    std::vector<std::optional<PairFunction>> found(n * n);
    for (const std::string& text : s.sections) {
        const auto words = words_of(text);
        const auto kind = [&](std::size_t w) {
            const auto at =
                w < words.size() ? std::find(s.names.begin(), s.names.end(), words[w]) : s.names.end();
            return static_cast<std::size_t>(at - s.names.begin());
        };
        const std::size_t a = kind(0), b = kind(1);
        const auto cutoff = words.size() == 4 ? real_of(words[3]) : std::optional<double>(0);
        const bool right =
            (words.size() == 3 || (words.size() == 4 && cutoff && *cutoff > 0)) && a < n && b < n;
        if (!right || found[a * n + b]) keys.refuse("pair.sections", fmt::format("'{}'", text), form);
        found[a * n + b] = found[b * n + a] = PairFunction::read(
            table, std::string(words[2]),
            s.interpolation == "spline" ? Interpolation::spline : Interpolation::linear, s.points, *cutoff);
    }
    s.tables.clear(), s.cutoff = 0;
    for (std::size_t at = 0; at < n * n; ++at) {
        if (!found[at])
            keys.refuse("pair.sections", fmt::format("none for {} and {}", s.names[at / n], s.names[at % n]),
                        form);
        s.tables.push_back(*found[at]);
        s.cutoff = std::max(s.cutoff, s.tables.back().cutoff());
    }
}

/// What is allowed as a state where a folder is named that is no checkpoint.
std::string last_checkpoint_text(const std::filesystem::path& folder) {
    const std::vector<std::int64_t> steps = graph::checkpoint_steps(folder);
    if (steps.empty()) return "a file, or a folder checkpoint-NNNNNN of a run";
    return graph::checkpoint_path(folder, steps.back()).string() + ", its last one, or another of them";
}

/// What files say: the state, the potential, and so the box, the density and the cutoff.
/// `open`: directions that the state's file says are not periodic.
void read_files(Settings& s, const graph::CaseSchema& keys, std::array<bool, 3>& open) {
    s.units = &units(s.units_name);
    make_kinds(s, keys);
    if (s.form == "eam") {
        if (s.potential_file.empty())
            keys.refuse("pair.file", "the embedded-atom method needs a table", "a setfl file");
        const std::filesystem::path setfl = keys.path("pair.file", s.potential_file);
        check_units(s, keys, "pair.file", setfl);
        s.eam = std::make_shared<const Eam>(Eam::read(setfl, s.names));
        s.cutoff = s.eam->cutoff();
        take_masses(s, s.eam->masses());
        if (s.long_range) keys.refuse("pair.long_range", "this potential ends at its cutoff", "false");
    }
    if (s.form == "table") read_tables(s, keys);
    if (s.file.empty()) {
        if (s.cells.size() != 3)
            keys.refuse("system.cells", "the size of the lattice is missing", "3 numbers");
        if (s.density <= 0) keys.refuse("system.density", "that of the lattice is missing", "above 0");
        if (s.temperature < 0)
            keys.refuse("system.temperature", "a lattice has no velocities of its own", "0 or more");
        return;
    }
    if (!s.state && (!s.cells.empty() || s.sphere > 0 || !s.box.empty()))
        keys.refuse("system.file", "the state is in a file",
                    "system.cells, sphere and box only without a file");
    const std::filesystem::path file = keys.path("system.file", s.file);
    const bool xyz = s.file.ends_with(".xyz") || s.file.ends_with(".extxyz");
    if (std::filesystem::is_directory(file)) {
        if (!std::filesystem::exists(file / "checkpoint.json"))
            keys.refuse("system.file", "this folder is no checkpoint", last_checkpoint_text(file));
        const auto state = std::make_shared<const CheckpointState>(file, s.units_name, s.names);
        open = state->open();
        take_masses(s, state->masses());
        s.state = state;
    } else if (xyz) {
        const auto state = std::make_shared<const ExtendedXyz>(file, s.names);
        open = state->open();
        s.state = state;
    } else {
        check_units(s, keys, "system.file", file);
        const auto state = std::make_shared<const LammpsData>(file);
        if (static_cast<std::size_t>(state->kinds()) != s.kinds.size())
            keys.refuse("system.file", fmt::format("the file has {} kinds of atoms", state->kinds()),
                        fmt::format("{}, as many as kinds.names", s.kinds.size()));
        take_masses(s, state->masses());
        s.state = state;
    }
    if (!s.makes_velocities() && !s.state->has_velocities())
        keys.refuse("system.temperature", "the state in system.file has no velocities", "0 or more");
    s.box.clear();
    const std::array<double, 3> length = s.state->length();
    for (std::size_t a = 0; a < 3; ++a) {
        s.low[a] = s.state->low()[a];
        s.box.push_back(length[a]);
    }
    s.density = static_cast<double>(s.state->atoms()) / (s.box[0] * s.box[1] * s.box[2]);
}

/// The skin, where it follows from a drift of the energy.
void choose_skin(Settings& s, const graph::CaseSchema& keys) {
    if (s.drift == 0) return;
    if (s.every == 0) keys.refuse("neighbours.drift", "without neighbours.every no pair is missed", "0");
    if (s.form != "lj") keys.refuse("neighbours.drift", "the estimate is of Lennard-Jones pairs", "0");
    const double temperature = std::max(s.temperature, s.thermostat_temperature);
    if (temperature <= 0)
        keys.refuse("neighbours.drift", "how far atoms move follows from a temperature, and there is none",
                    "0, or system.temperature or thermostat.temperature above 0");
    double lightest = s.kinds[0].mass;
    for (const Species& kind : s.kinds) lightest = std::min(lightest, kind.mass);
    s.skin = skin_for(
        s.potential(),
        {s.density, s.units->velocity2_of(temperature, lightest), static_cast<double>(s.every) * s.step},
        s.drift);
    if (s.skin == 0) s.skin = 1e-3 * s.cutoff;
}

}  // namespace

void complete(Settings& s, const graph::CaseSchema& keys) {
    std::array<bool, 3> open{};
    read_files(s, keys, open);
    need_masses(s, keys);
    choose_skin(s, keys);
    s.outside.complete(keys, s.names, open);
    if (s.box.size() == 1 || s.box.size() == 2) keys.refuse("system.box", "not a box", "3 lengths, or none");
    if (s.patches.size() == 1 || s.patches.size() == 2)
        keys.refuse("system.patches", "not a number for each direction", "3 numbers, or none");
    if (s.shift_by.size() == 1 || s.shift_by.size() == 2)
        keys.refuse("system.shift", "not a way", "3 lengths, or none");
    if (s.state && !s.shift_by.empty())
        keys.refuse("system.shift", "the state is in a file", "none, or a lattice");
    const bool fills = s.box.empty() || s.state != nullptr;
    const double edge = std::cbrt(static_cast<double>(s.patch_atoms) / s.density);
    const double smallest = s.changes_volume() ? s.least_scale : 1;
    for (std::size_t a = 0; a < 3; ++a) {
        const double lattice = s.state ? s.box[a] : static_cast<double>(s.cells[a]) * s.spacing();
        s.length[a] = s.box.empty() ? lattice : s.box[a];
        if (s.length[a] < lattice * (1 - 1e-9))  // a box that was computed may have other last digits
            keys.refuse("system.box", "smaller than the lattice", fmt::format("{:.6g} or more", lattice));
        s.length[a] = std::max(s.length[a], lattice);
        const double room = (s.length[a] - (s.sphere > 0 ? 2 * s.sphere : lattice)) / 2;
        if (!s.shift_by.empty() && std::abs(s.shift_by[a]) > room * (1 + 1e-9))
            keys.refuse("system.shift", fmt::format("{} brings atoms out of the box", s.shift_by[a]),
                        fmt::format("at most {:.6g} either way", room));
        if (s.outside.periodic(a) && s.length[a] < 2 * (s.reach() - s.skin))
            keys.refuse("pair.cutoff", fmt::format("the box is {:.6g} wide", s.length[a]),
                        fmt::format("at most {:.6g}, half of that{}", s.length[a] / 2 * smallest,
                                    smallest < 1 ? " times barostat.least" : ""));
        if (2 * s.sphere > lattice)
            keys.refuse("system.sphere", "the droplet is larger than the lattice",
                        fmt::format("at most {:.6g}", lattice / 2));
        s.counts[a] = s.patches.empty() ? std::max(1, static_cast<int>(std::lround(s.length[a] / edge)))
                                        : static_cast<int>(s.patches[a]);
    }
    if (const double next = s.sphere > 0 ? way_to_middle(s) : 0; s.sphere > 0 && s.sphere < next)
        keys.refuse("system.sphere", "no atom of the lattice is in the droplet",
                    fmt::format("0, or {:.6g} and more: the way from its middle to the next atom", next));
    if (s.thermostat != "none" && s.thermostat_temperature == 0)
        keys.refuse("thermostat.temperature", "a thermostat without a temperature", "above 0");
    if (s.changes_volume() && s.thermostat == "none")
        keys.refuse("barostat.kind", "its noise has the temperature of a thermostat, and there is none",
                    "none, or a thermostat (thermostat.kind)");
    if (s.changes_volume() && s.compressibility == 0)
        keys.refuse("barostat.compressibility", "a barostat without one", "above 0");
    if (s.minimises() && s.changes_volume())
        keys.refuse("barostat.kind", "a minimisation leaves the box as it is", "none");
    if (s.minimises() && s.thermostat != "none")
        keys.refuse("thermostat.kind", "a minimisation has no temperature", "none");
    if (s.minimises() && s.remove_drift > 0)
        keys.refuse("time.remove_drift", "a minimisation has no momentum", "0");
    if (s.changes_volume() && (s.outside.changes() || !s.outside.all_periodic()))
        keys.refuse("barostat.kind",
                    "the pressure of a box with forces from outside or open borders is not that of a fluid",
                    "none, or periodic borders without [outside] and [walls]");
    if (s.minimises() && (s.outside.works() || s.outside.reflects()))
        keys.refuse("outside.moving",
                    "a minimisation has no time: atoms that are moved, forces along a periodic "
                    "direction and reflecting walls have no place in it",
                    "none of these");
    if (s.remove_drift > 0 && s.outside.kept_momenta() != 3)
        keys.refuse("time.remove_drift", "what acts from outside changes the momentum of all atoms", "0");
    if (s.long_range && (s.shift != "none" || s.sphere > 0 || !fills || !s.outside.all_periodic()))
        keys.refuse("pair.long_range", "the fluid is neither truncated alone nor even",
                    "false, or shift = \"none\", a box that the lattice fills, and periodic borders");
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
