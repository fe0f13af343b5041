// strata-overset: what the meshes of a case, or of grid files, make of each other: holes, receptors, orphans,
// and the quality of cells. `strata overset check` starts it and makes a report of what it writes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/options.hpp"
#include "core/base/private_folder.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "core/run/driver/grid_values.hpp"
#include "core/run/driver/showing.hpp"
#include "methods/curvilinear/piece.hpp"
#include "methods/curvilinear/ranges.hpp"
#include "methods/overset/ratios.hpp"
#include "solvers/flow/boundary_keys.hpp"
#include "solvers/flow/boundary_tables.hpp"
#include "solvers/flow/map_command.hpp"
#include "solvers/flow/overset_quality.hpp"
#include "solvers/flow/step.hpp"

namespace {

using namespace strata;
using namespace strata::graph;
namespace fs = std::filesystem;

Options options() {
    Options all(
        "strata-overset",
        "Meshes that overlap: holes, receptors, donors, orphans, quality of cells. Nothing is computed "
        "on them. Ends with status 1 where more cells have no donor than may. With --map: the neutral map "
        "file of one grid, from the joins that are found.");
    all.positional("GRIDS",
                   "a case with tables [mesh.NAME]; or two PLOT3D files or more, NAME=FILE or NAME=FILE:MAP; "
                   "with --map one PLOT3D file",
                   true, true)
        .option(
            "--walls", "NAMES", "",
            "with files: boundaries that are walls (MESH-NAME, MESH-ZONE:j-min), separated by commas; those "
            "with 'wall' or 'solid' in their names are")
        .option(
            "--outer", "NAMES", "",
            "with files: boundaries at which the domain ends; those of the first mesh do, and all others are "
            "overset, or 'symmetry' by name")
        .option("--orphans", "N", "0",
                "so many cells without a donor are allowed (files; a case says it itself)")
        .option("--patch", "N", "32", "with files: cells of a patch in each direction")
        .flag("--times", "how long metrics take alone, too: the start is made once more without connectivity")
        .option("--out", "DIR", "", "folder for check.json and the cells of each process")
        .option("--map", "FILE", "", "writes joins and faces of the grid there, and checks nothing")
        .option("--form", "WORDS", "", "with --map: what is known of the grid file, as grid.form of a case")
        .option("--dimensions", "N", "0", "with --map: 2 for a file with one cell across, as grid.dimensions")
        .option("--shift", "X,Y,Z", "",
                "with --map: faces that this shift takes onto each other are periodic")
        .option("--turn", "DEGREES", "", "with --map: the same of a turn, which the case has to say again")
        .option("--turn-axis", "AXIS", "x", "with --map: x, y or z, through the origin")
        .example("strata-overset cases/flow/overset-cylinder.toml --out check", "the meshes of a case")
        .example("strata-overset box=box.p3d wing=wing.p3d:wing.nmf", "grids from files")
        .example("strata-overset --map wing.nmf wing.p3d", "what the faces of a grid are");
    return all;
}

std::vector<std::string> words_of(const std::string& list) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < list.size();) {
        const std::size_t end = std::min(list.find(',', at), list.size());
        words.push_back(list.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

bool is_named(const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
}

/// The settings of a case that has these grids, with conditions by the names of their boundaries.
void read_grids(const Parsed& given, flow::Settings& s, const CaseSchema& keys) {
    std::string first;
    if (given.positionals().size() < 2)
        throw Error("one grid overlaps no other")
            .given(given.positionals().front())
            .allowed("a case.toml with tables [mesh.NAME], or two grids or more: NAME=FILE NAME=FILE:MAP");
    for (const std::string& word : given.positionals()) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            throw Error("a grid has no name")
                .given(word)
                .allowed("NAME=FILE, NAME=FILE:MAP, or one case.toml");
        const std::string name = word.substr(0, equals);
        if (first.empty()) first = name;
        if (s.meshes.count(name) != 0)
            throw Error("two grids have one name").given(word).allowed("a name of its own for each");
        flow::GridKeys& g = s.meshes[name].grid;
        g.section = "mesh." + name;
        const std::size_t colon = word.find(':', equals);
        g.file = word.substr(equals + 1, colon == std::string::npos ? colon : colon - equals - 1);
        if (colon != std::string::npos) g.map = word.substr(colon + 1);
        g.patch.assign(3, given.integer("--patch", 4, 1 << 20));
    }
    s.flow.equations = "euler";
    const std::vector<std::string> walls = words_of(given.text("--walls")),
                                   outer = words_of(given.text("--outer"));
    const flow::GridSystem grid = flow::case_grid(s, keys);
    for (const flow::BoundaryRange& range : grid.boundaries) {
        const std::string likely = flow::likely_kind(range.name, s, grid.dimensions);
        s.boundaries[range.name].kind = is_named(walls, range.name) || likely == "slip-wall" ? "slip-wall"
                                        : is_named(outer, range.name)                        ? "far-field"
                                        : likely != "far-field" && likely != "overset"       ? likely
                                        : range.name.rfind(first + "-", 0) == 0              ? "far-field"
                                                                                             : "overset";
    }
    for (const auto* list : {&walls, &outer})
        for (const std::string& name : *list)
            if (s.boundaries.count(name) == 0) {
                std::vector<std::string> all;
                for (const auto& [known, keys_of] : s.boundaries) all.push_back(known);
                throw Error("the grids have no boundary of this name")
                    .given(name)
                    .allowed(fmt::format("{}", fmt::join(all, ", ")));
            }
}

/// The meshes, without a flow on them.
struct Meshes {
    std::vector<flow::Boundary> boundaries;
    std::unique_ptr<flow::FlowZones> grid;
    flow::Labels labels;
    Scalars<double> worst;

    /// `connected`: false for their metrics alone.
    Meshes(Graph& graph, const flow::Settings& s, const CaseSchema& keys, bool connected)
        : connected(connected) {
        graph.in_program_order();
        flow::GridSystem system = flow::case_grid(s, keys);
        const int dimensions = system.dimensions;
        boundaries = flow::case_boundaries(s, keys, dimensions);
        grid = std::make_unique<flow::FlowZones>(graph, "meshes", std::move(system), 0, s, keys, boundaries);
        worst = graph.scalars<double>("worst quality", Reduce::max, flow::kQualities * grid->zones().zones(),
                                      {.kept = true});
        const flow::Step step{graph, "", s, s.scheme(), *grid, boundaries, nullptr, labels, nullptr};
        flow::make_labels(step);
        dimensions == 2 ? declare<2>(graph, step) : declare<3>(graph, step);
    }

  private:
    bool connected;
    template <int Dim>
    void declare(Graph& graph, const flow::Step& step) {
        flow::declare_metrics<Dim>(step);
        flow::declare_geometry<Dim>(step);
        if (!connected) return;
        flow::declare_overset<Dim>(step);
        flow::find_quality<Dim>(graph, *grid, labels, worst);
    }
};

/// Nodes where the mesh is at first.
void place(const FieldView<double>& nodes, int dimensions, const geometry::Rigid& at) {
    if (!at.moves()) return;
    for_each(nodes.box(), [&](int i, int j, int k) {
        Real3 x{};
        for (int d = 0; d < dimensions; ++d) x[static_cast<std::size_t>(d)] = nodes(i, j, k, d);
        x = at(x);
        for (int d = 0; d < dimensions; ++d) nodes(i, j, k, d) = x[static_cast<std::size_t>(d)];
    });
}

/// Nodes and status of this process's patches: for each patch zone, lo and hi of its cells (7 int32), status
/// of cells (int32), nodes (doubles: all x, all y ...).
void write_cells(const fs::path& path, const Simulation& run, const Meshes& meshes) {
    std::ofstream to(path, std::ios::binary);
    ValuesNow now(run);
    const Zones& zones = meshes.grid->zones();
    const std::vector<int>& patches = now.patches(zones);
    for (int local = 0; local < static_cast<int>(patches.size()); ++local) {
        const int patch = patches[static_cast<std::size_t>(local)];
        const Box cells = zones.box(patch);
        const std::array<std::int32_t, 7> head{zones.zone_of(patch), cells.lo[0], cells.lo[1], cells.lo[2],
                                               cells.hi[0],          cells.hi[1], cells.hi[2]};
        std::vector<std::byte> status;
        now.read({meshes.labels.overset->status().id()}, local, 1, status);
        flow::Piece nodes = flow::nodes_of(meshes.grid->source(), zones.zone_of(patch), cells);
        place(nodes.view(), meshes.grid->dimensions(),
              meshes.grid->motions().placed(meshes.grid->mesh_of(zones.zone_of(patch)), 0));
        const std::int64_t values = nodes.view().box().volume() * meshes.grid->dimensions();
        to.write(reinterpret_cast<const char*>(head.data()), sizeof head);
        to.write(reinterpret_cast<const char*>(status.data()), static_cast<std::streamsize>(status.size()));
        to.write(reinterpret_cast<const char*>(nodes.data()),
                 static_cast<std::streamsize>(sizeof(double)) * static_cast<std::streamsize>(values));
    }
    if (!to.flush())
        throw Error("the cells of the check cannot be written")
            .at(path.string())
            .remedy("is there room, and may you write there?");
}

struct Found {
    std::vector<std::int64_t> counts, first;
    std::vector<double> worst;
    std::array<double, 2> ratios;
    std::vector<std::int64_t> ratio_counts;
    double seconds, metrics;
};

/// Shares of receptors, in percent, whose ratios are said.
constexpr std::array<int, 5> kPercent{1, 5, 50, 95, 99};

void write_json(const fs::path& path, const Meshes& meshes, const flow::Settings& s, const Found& found,
                std::int64_t allowed, int files) {
    std::ofstream out(path);
    Json j(out);
    const auto& p = *meshes.labels.overset->problem;
    const flow::GridSource& source = meshes.grid->source();
    j.object().member("dimensions", meshes.grid->dimensions()).member("seconds", found.seconds);
    j.member("seconds_of_metrics", found.metrics);
    j.member("files", files).member("orphans_allowed", allowed).member("better", s.overset.better);
    j.members("meshes", p.names);
    j.member("least_ratio", -found.ratios[0]).member("greatest_ratio", found.ratios[1]);
    j.key("ratio_percentiles").object();
    for (const int percent : kPercent)
        j.member(std::to_string(percent), overset::ratio_at(found.ratio_counts, percent / 100.0));
    j.end();
    // Meshes whose walls cut others.
    std::vector<int> cutting;
    for (int patch = 0; patch < p.grid.patches(); ++patch)
        if (const int mesh = p.mesh[static_cast<std::size_t>(p.grid.zone_of(patch))];
            !p.walls[static_cast<std::size_t>(patch)].empty() &&
            std::find(cutting.begin(), cutting.end(), mesh) == cutting.end())
            cutting.push_back(mesh);
    std::sort(cutting.begin(), cutting.end());
    j.members("cutting", cutting);
    j.key("zones").array();
    for (int zone = 0; zone < p.grid.zones(); ++zone) {
        const Box& cells = p.grid.cells(zone);
        const auto count = [&](int c) {
            return found.counts[static_cast<std::size_t>(overset::kCounts * zone + c)];
        };
        const auto worst = [&](int q) {
            return found.worst[static_cast<std::size_t>(flow::kQualities * zone + q)];
        };
        j.object().member("name", source.zones()[static_cast<std::size_t>(zone)].name);
        j.member("mesh", p.mesh[static_cast<std::size_t>(zone)]);
        j.members("cells", std::vector<int>{cells.hi[0], cells.hi[1], cells.hi[2]});
        const flow::ZoneShape& shape = source.zones()[static_cast<std::size_t>(zone)];
        j.member("given_zone", shape.origin + 1);
        for (const auto& [key, cell] :
             {std::pair{"first_cell", Int3{0, 0, 0}}, {"next_cell", Int3{1, 1, 1}}}) {
            const Int3 at = flow::given_cell(shape, cell);
            j.members(key, std::vector<int>{at[0] + 1, at[1] + 1, at[2] + 1});
        }
        j.members("axes", std::vector<int>{shape.axes[0], shape.axes[1], shape.axes[2]});
        j.member("computed", count(overset::kComputed)).member("receptors", count(overset::kReceptors));
        j.member("holes", count(overset::kHoles)).member("covered", count(overset::kCovered));
        j.member("orphans", count(overset::kOrphans));
        j.member("aspect", worst(flow::kAspect)).member("skew", worst(flow::kSkew));
        j.member("growth", worst(flow::kGrowth));
        j.end();
    }
    j.end().end();
    if (!out.flush())
        throw Error("the result of the check cannot be written")
            .at(path.string())
            .remedy("is there room, and may you write there?");
}

/// The table that is printed.
void print(const Meshes& meshes, const Found& found) {
    const auto& p = *meshes.labels.overset->problem;
    fmt::print("{:<24} {:>10} {:>10} {:>10} {:>10} {:>8}\n", "zone", "cells", "computed", "receptors",
               "holes", "orphans");
    std::int64_t orphans = 0;
    for (int zone = 0; zone < p.grid.zones(); ++zone) {
        const auto count = [&](int c) {
            return found.counts[static_cast<std::size_t>(overset::kCounts * zone + c)];
        };
        orphans += count(overset::kOrphans);
        fmt::print("{:<24} {:>10} {:>10} {:>10} {:>10} {:>8}\n",
                   meshes.grid->source().zones()[static_cast<std::size_t>(zone)].name,
                   p.grid.cells(zone).volume(), count(overset::kComputed), count(overset::kReceptors),
                   count(overset::kHoles) + count(overset::kCovered), count(overset::kOrphans));
        if (count(overset::kOrphans) > 0) {
            const Int3 at = overset::cell_of(p.grid.cells(zone), found.first[static_cast<std::size_t>(zone)]);
            fmt::print("  the first orphan of {} is cell {}\n", flow::zone_text(meshes.grid->source(), zone),
                       flow::cell_text(meshes.grid->source(), zone, at));
        }
    }
    if (found.ratios[1] > 0)
        fmt::print(
            "donor cells have {:.3g} to {:.3g} times the volume of their receptors; of 5 % less than {:.2g}, "
            "half {:.2g}, "
            "95 % {:.2g}\n",
            -found.ratios[0], found.ratios[1], overset::ratio_at(found.ratio_counts, 0.05),
            overset::ratio_at(found.ratio_counts, 0.5), overset::ratio_at(found.ratio_counts, 0.95));
    fmt::print("{} cells, {} of them orphans; found in {:.3f} s", p.grid.all_cells(), orphans, found.seconds);
    if (found.metrics > 0) fmt::print(", of which {:.3f} s for nodes and metrics", found.metrics);
    fmt::print("\n");
}

/// The settings of the case, or of one that has these grids. Returns how many orphans there may be.
std::int64_t read(const Parsed& given, flow::Settings& settings, CaseSchema& keys) {
    const std::vector<std::string>& grids = given.positionals();
    const bool is_case = grids.size() == 1 && fs::path(grids[0]).extension() == ".toml";
    if (is_case)
        for (const char* option : {"--walls", "--outer", "--orphans", "--patch"})
            if (given.has(option))
                throw Error("a case says this itself")
                    .given(fmt::format("{} with {}", option, grids[0]))
                    .allowed("boundary.NAME.kind, overset.orphans and mesh.NAME.patch in the case");
    if (is_case)
        keys.read(grids[0]);
    else
        read_grids(given, settings, keys);
    settings.time.sequence.clear();
    flow::check(settings, keys);
    if (!settings.overlaps())
        throw Error("the case has one grid, and nothing overlaps")
            .at(grids[0])
            .allowed("a case with tables [mesh.NAME] in place of [grid]")
            .remedy("strata run, which needs no check of this");
    const std::int64_t allowed = is_case ? settings.overset.orphans : given.integer("--orphans", 0, 1L << 40);
    settings.overset.orphans = std::int64_t{1} << 60;  // they are reported here
    return allowed;
}

/// Seconds.
double start(Simulation& run, team::Team& team) {
    team.barrier();
    const auto began = std::chrono::steady_clock::now();
    run.start();
    team.barrier();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

int check(team::Team& team, const Parsed& given) {
    flow::Settings settings;
    CaseSchema keys = flow::schema(settings);
    // Keys of runs, which cases have and which say nothing here.
    OutputSettings output;
    bool balance = true;
    output.declare(keys);
    keys.key("run.balance", &balance, {.decides = false, .meaning = "of runs"});
    const std::int64_t allowed = read(given, settings, keys);
    double metrics = 0;
    if (given.has("--times")) {
        Graph alone("metrics");
        const Meshes meshes(alone, settings, keys, false);
        Simulation run(alone, Members::of(team), {.crew = &team.crew()});
        metrics = start(run, team);
        team.barrier();  // nobody frees its patches while others read them
    }
    Graph graph("overset");
    const Meshes meshes(graph, settings, keys, true);
    Simulation run(graph, Members::of(team), {.crew = &team.crew()});
    const double took = start(run, team);
    const overset::Connectivity& of = *meshes.labels.overset->found;
    const Found found{run.numbers(of.counts),
                      run.numbers(of.first_orphans),
                      run.numbers(meshes.worst),
                      run.value(of.ratios),
                      run.numbers(of.ratio_counts),
                      took,
                      metrics};
    const fs::path out = given.text("--out");
    if (!out.empty()) {
        if (const std::error_code failed = make_results_folder(out))
            throw system_error("the folder cannot be made", failed.value()).at(out.string());
        write_cells(out / fmt::format("cells-{}.bin", team.rank()), run, meshes);
        if (team.rank() == 0) write_json(out / "check.json", meshes, settings, found, allowed, team.size());
    }
    std::int64_t orphans = 0;
    for (std::size_t n = overset::kOrphans; n < found.counts.size(); n += overset::kCounts)
        orphans += found.counts[n];
    if (team.rank() == 0) {
        print(meshes, found);
        if (orphans > allowed) fmt::print("{} cells have no donor; {} may\n", orphans, allowed);
        std::fflush(stdout);
    }
    team.barrier();
    return orphans > allowed ? kFailure : kSuccess;
}

void write_map(const Parsed& given) {
    const std::vector<std::string>& grids = given.positionals();
    if (grids.size() != 1)
        throw Error("a map is of one grid")
            .given(fmt::format("{}", fmt::join(grids, " ")))
            .allowed("the name of one PLOT3D file");
    flow::GridFiles files;
    files.grid = grids[0];
    files.form = flow::known_form(given.text("--form"));
    files.dimensions = static_cast<int>(given.integer("--dimensions", 0, 3));
    if (given.has("--turn"))
        files.periodic.push_back({flow::turn_about(given.choice("--turn-axis", {"x", "y", "z"})[0] - 'x',
                                                   given.number("--turn", -360, 360)),
                                  {}});
    if (given.has("--shift")) {
        flow::Periodic periodic;
        std::size_t d = 0;
        for (const std::string& word : words_of(given.text("--shift"))) {
            char* end = nullptr;
            const double value = std::strtod(word.c_str(), &end);
            if (d == 3 || word.empty() || *end != 0 || !std::isfinite(value))
                throw Error("--shift has a number for each dimension")
                    .given(given.text("--shift"))
                    .allowed("two or three numbers: 0,0,1.5");
            periodic.shift[d++] = value;
        }
        files.periodic.push_back(periodic);
    }
    flow::write_found_map(files, given.text("--map"));
}

}  // namespace

int main(int argc, char** argv) {
    Parsed given;
    try {
        given = options().parse(argc, argv);
        if (given.help()) return kSuccess;
        if (given.has("--map")) {
            write_map(given);
            return kSuccess;
        }
        for (const char* option : {"--form", "--dimensions", "--shift", "--turn", "--turn-axis"})
            if (given.has(option))
                throw Error("only a map is made with this option")
                    .given(option)
                    .allowed("--map FILE beside it");
    } catch (const Error& error) {
        std::fputs(error.text().c_str(), stderr);
        return error.exit_code();
    }
    return team::run(argc, argv, [&](team::Team& team) { return check(team, given); });
}
