#include "core/run/driver/showing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/run/checkpoint/all_or_none.hpp"
#include "core/run/driver/driver.hpp"
#include "core/run/driver/shown_values.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

const LabelInfo& label_of(const Graph& graph, LabelId id) { return graph.labels()[id]; }

/// The label with the positions of a set's particles; none where they are never relocated.
LabelId position_of(const Graph& graph, SetId set) {
    for (const Scope& scope : graph.scopes())
        for (const Scope::Relocation& relocation : scope.relocations())
            if (relocation.set == set) return relocation.position.label;
    return {};
}

/// "" where a label can be shown, else the reason why not.
std::string why_not(const Graph& graph, const Resolved& resolved, const LabelInfo& label) {
    if (label.kind != Kind::field && label.kind != Kind::particles)
        return "it is neither field nor particles";
    if (label.element == Element::bytes) return "its values are no numbers";
    if (label.kind == Kind::field && static_cast<const Grid*>(label.family)->zones() > 1)
        return "it lies on several zones, and a field file shows one grid";
    if (label.kind == Kind::particles && !position_of(graph, label.particle_set))
        return "nothing relocates its particles, so their position is not known";
    const auto kept = [&](const Storage& s) { return s.kept && s.label == label.id; };
    if (std::none_of(resolved.storages.begin(), resolved.storages.end(), kept))
        return "it does not live until the next step (LabelOptions::history = 1 keeps it)";
    return "";
}

std::string in_files(std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '/' || c == '.'; }, '_');
    return name;
}

/// The file to which a label belongs; added for its first label.
ShownFile& file_of(std::vector<ShownFile>& files, const Graph& graph, const LabelInfo& label) {
    const bool particles = label.kind == Kind::particles;
    const auto* grid = static_cast<const Grid*>(label.family);
    const SetId set = particles ? label.particle_set : SetId();
    const On on = particles || label.on == On::nodes ? On::cells : label.on;
    for (ShownFile& file : files)
        if (file.set == set && file.grid == grid && file.on == on) return file;
    ShownFile file;
    file.grid = grid;
    file.on = on;
    file.set = set;
    file.name = in_files(grid->name());
    for (std::size_t a = 0; a < 3; ++a)
        if (on != On::cells && on_sides(on, a)) file.name += fmt::format("-{}-faces", "xyz"[a]);
    if (particles) {
        file.name = in_files(graph.particle_sets()[set].name);
        if (file.name == in_files(grid->name())) file.name += "-particles";
        file.position = position_of(graph, set);
        const LabelInfo& at = label_of(graph, file.position);
        file.arrays.push_back({{"Points", at.element, 3, at.unit, On::cells}, file.position});
    }
    files.push_back(std::move(file));
    return files.back();
}

/// "dust.id" is "id" in the file of the dust.
std::string array_name(const Graph& graph, const LabelInfo& label) {
    if (label.kind == Kind::particles) {
        const std::string of = graph.particle_sets()[label.particle_set].name + '.';
        if (label.name.starts_with(of)) return in_files(label.name.substr(of.size()));
    }
    return in_files(label.name);
}

fs::path list_of(const ShownFile& file, const fs::path& folder) {
    return folder / (file.name + ".vtkhdf.series");
}

}  // namespace

void OutputSettings::declare(CaseSchema& schema) {
    schema.key("output.steps", &steps,
               {.least = 0,
                .most = 1LL << 40,
                .decides = false,
                .meaning = "fields for ParaView every so many steps; 0: not by steps"});
    schema.key(
        "output.interval", &interval,
        {.least = 0, .decides = false, .meaning = "fields every so much time of the case; 0: not by time"});
    schema.key("output.fields", &fields,
               {.decides = false, .meaning = "which; empty: those that the solver shows"});
}

std::vector<ShownFile> shown_files(const Graph& graph, const Resolved& resolved, const Solver& solver,
                                   const CaseSchema& schema, const OutputSettings& settings) {
    std::vector<LabelId> labels;
    std::vector<std::string> names;
    for (const LabelInfo& label : graph.labels())
        if (why_not(graph, resolved, label).empty()) {
            labels.push_back(label.id);
            names.push_back(label.name);
        }
    if (!settings.fields.empty()) {
        std::vector<LabelId> chosen;
        for (const std::string& name : settings.fields) {
            const auto found = std::find(names.begin(), names.end(), name);
            if (found == names.end())
                schema.refuse("output.fields", fmt::format("'{}' is nothing that can be shown", name),
                              fmt::format("{}", fmt::join(names, ", ")));
            chosen.push_back(labels[static_cast<std::size_t>(found - names.begin())]);
        }
        labels = chosen;
    } else if (!solver.fields.empty()) {
        labels.clear();
        for (const ShownLabel& shown : solver.fields) labels.push_back(shown.label());
    }
    std::vector<ShownFile> files;
    for (const LabelId id : labels) {
        const LabelInfo& label = label_of(graph, id);
        const std::string not_shown = why_not(graph, resolved, label);
        if (!not_shown.empty())
            throw Error(fmt::format("the solver cannot show '{}': {}", label.name, not_shown));
        ShownFile& file = file_of(files, graph, label);
        const auto same = [&](const ShownFile::Array& array) { return array.label == id; };
        if (std::any_of(file.arrays.begin(), file.arrays.end(), same)) continue;
        file.arrays.push_back(
            {{array_name(graph, label), label.element, label.components, label.unit, label.on}, id});
    }
    return files;
}

void ShownTimes::pass(double now) {
    constexpr double never = std::numeric_limits<double>::infinity();
    next_ = never;
    if (interval_ <= 0) return;
    const double count = std::floor(now / interval_) + 1;  // one too small if rounded down
    next_ = count * interval_ > now ? count * interval_ : (count + 1) * interval_;
    // An interval too small to change the time: fields are written after each step.
    if (!(next_ > now) || next_ == never) next_ = std::nextafter(now, never);
}

void write_shown(const std::vector<ShownFile>& files, const Simulation& run, team::Team& team,
                 const fs::path& folder, double time) {
    for (const ShownFile& shown : files) {
        const fs::path path = folder / fmt::format("{}-{:06}.vtkhdf", shown.name, run.step());
        const auto undo = [&] { FieldFile::abandon(path); };
        std::vector<std::int64_t> first;
        if (shown.set) first = first_particles(shown, run, team);
        const auto create = [&] {
            std::vector<FieldArray> arrays;
            for (const ShownFile::Array& array : shown.arrays) arrays.push_back(array.form);
            if (leaves_some_out(shown)) arrays.push_back(ghosts_array(shown));
            if (!shown.set)
                FieldFile::create_grid(path, shown.grid->shape(), arrays, time);
            else
                FieldFile::create_particles(path, first.back(), arrays, time);
            if (leaves_some_out(shown)) hide_all(shown, path);
        };
        first_or_none(team, create, undo);
        for (int node = 0; node < team.nodes(); ++node)
            all_or_none(
                team,
                [&] {
                    if (team.node() == node) write_values(shown, path, run, first);
                },
                undo);
        first_or_none(
            team, [&] { FieldFile::finish(path, list_of(shown, folder), time); }, undo);
    }
}

void begin_shown(const std::vector<ShownFile>& files, const fs::path& folder, bool restarted, double time) {
    fs::create_directories(folder);
    FieldFile::sweep(folder);
    for (const ShownFile& file : files) {
        const fs::path list = list_of(file, folder);
        if (restarted)
            forget_later_fields(list, time);
        else if (fs::exists(list))
            throw Error("there are field files already")
                .at(list.string())
                .remedy("choose another folder, or restart");
    }
}

}  // namespace strata::graph
