// From the keys of a case, and the files that it names, to the numbers of a run.
#include "solvers/md/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.hpp"
#include "solvers/md/files/checkpoint_state.hpp"
#include "solvers/md/files/extended_xyz.hpp"
#include "solvers/md/files/lammps_data.hpp"
#include "solvers/md/files/said_units.hpp"
#include "solvers/md/pair/skin.hpp"
#include "solvers/md/start.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

namespace strata::md {

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

/// The box and its patches, with room for the lattice and the cutoff.
void lay_out_box(Settings& s, const graph::CaseSchema& keys) {
    if (s.box.size() == 1 || s.box.size() == 2) keys.refuse("system.box", "not a box", "3 lengths, or none");
    if (s.patches.size() == 1 || s.patches.size() == 2)
        keys.refuse("system.patches", "not a number for each direction", "3 numbers, or none");
    if (s.shift_by.size() == 1 || s.shift_by.size() == 2)
        keys.refuse("system.shift", "not a way", "3 lengths, or none");
    if (s.state && !s.shift_by.empty())
        keys.refuse("system.shift", "the state is in a file", "none, or a lattice");
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
}

/// Thermostat, barostat and minimisation.
void check_baths(const Settings& s, const graph::CaseSchema& keys) {
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
}

/// What is not possible beside walls, forces from outside and open borders. `fills`: the fluid fills the box.
void check_borders(const Settings& s, const graph::CaseSchema& keys, bool fills) {
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

}  // namespace

void complete(Settings& s, const graph::CaseSchema& keys) {
    std::array<bool, 3> open{};
    read_files(s, keys, open);
    need_masses(s, keys);
    choose_skin(s, keys);
    s.outside.complete(keys, s.names, open);
    const bool fills = s.box.empty() || s.state != nullptr;
    lay_out_box(s, keys);
    check_baths(s, keys);
    check_borders(s, keys, fills);
}

}  // namespace strata::md
