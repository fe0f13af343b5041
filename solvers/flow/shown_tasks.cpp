// What files and series show of the finest grid: walls, vortices, the state at nodes, probes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "solvers/flow/output/cells.hpp"
#include "solvers/flow/output/node_means.hpp"
#include "solvers/flow/output/probes.hpp"
#include "solvers/flow/output/surface.hpp"
#include "solvers/flow/step.hpp"

namespace strata::flow {

using namespace graph;

namespace {

template <int Dim>
void show_walls(const Step& step, Shown& shown) {
    const Zones& zones = step.zones();
    const std::span<const ZoneShape> shapes = step.grid.source().zones();
    Surface surface{
        .grid = zones,
        .dimensions = Dim,
        .walls = std::vector<std::vector<Surface::Wall>>(static_cast<std::size_t>(zones.patches())),
        .gas = step.scheme.gas,
        .motion = [&grid = step.grid](int patch,
                                      std::int64_t at_step) { return grid.motion(patch, at_step); },
        .reference = step.settings.reference_values(Dim),
        .nodes = nodes_of<Dim>(step.geometry()),
        .centres = centres_of<Dim>(step.geometry()),
        .shapes = {shapes.begin(), shapes.end()},
        .known = known_of(step.labels.overset)};
    for (int p = 0; p < zones.patches(); ++p)
        for (const auto& one : step.grid.boundaries(p))
            if (is_wall(one.boundary->condition)) {
                surface.walls[static_cast<std::size_t>(p)].push_back({one.face.face, one.boundary});
                shown.walls = true;
            }
    if (shown.walls)
        shown.surface = declare_surface(step.graph, step.graph.step(), surface, step.labels.q.last());
}

/// Which rows of cells of a patch, and beside it, have holes.
class RowsWithHoles {
  public:
    RowsWithHoles(const CellsComputed& cells, const Here& here) {
        if (cells.all()) return;
        const auto status = cells.status(here);
        box_ = status.box();
        box_.lo[0] = 0, box_.hi[0] = 1;
        has_.assign(static_cast<std::size_t>(box_.volume()), false);
        for_each(status.box(), [&](int i, int j, int k) {
            if (CellsComputed::knowledge(status, {i, j, k}) == Known::nothing) has_[number(j, k)] = true;
        });
    }
    /// Beyond the patch's borders: as the row beside them.
    [[nodiscard]] bool has(int j, int k) const {
        return !has_.empty() && has_[number(std::clamp(j, box_.lo[1], box_.hi[1] - 1),
                                            std::clamp(k, box_.lo[2], box_.hi[2] - 1))];
    }

  private:
    [[nodiscard]] std::size_t number(int j, int k) const {
        return static_cast<std::size_t>((k - box_.lo[2]) * (box_.hi[1] - box_.lo[1]) + j - box_.lo[1]);
    }
    Box box_;
    std::vector<bool> has_;
};

/// A list of values at the nodes of patches.
template <int Dim>
List<double> values_at_nodes(const Step& step, const std::string& name, int components) {
    const Zones& zones = step.zones();
    return step.graph.list<double>(
        name, zones, [&zones](int patch) { return PatchGeometry<Dim>(zones.box(patch)).node_box().volume(); },
        {.components = components, .kept = true});
}

/// What slices show of them.
template <int Dim>
void show_vortices_at_nodes(const Step& step, Scope& scope, Shown& shown) {
    constexpr int kNumbers = kVortexNumbers<Dim>, kTurns = kNumbers - 1;
    shown.vortices_at_nodes = values_at_nodes<Dim>(step, "vortices at nodes", kNumbers);
    Task none = step.graph.start().task("no vortices at nodes", step.zones());
    none.run([made = none.make(shown.vortices_at_nodes)](Here& here) {
        for (int e = 0; e < kNumbers; ++e)
            for (double& value : here[made].component(e)) value = 0;
    });
    Task task = scope.task("vortices at nodes", step.zones());
    const auto vorticity = task.need(shown.vorticity.last(), step.layers(1)),
               criterion = task.need(shown.criterion.last(), step.layers(1));
    const auto made = task.modify(shown.vortices_at_nodes);
    const CellsComputed cells(step.labels.overset, task, step.layers(1));
    task.run([=](Here& here) {
        const std::array<CellValues, 2> from{{{here[vorticity], kTurns}, {here[criterion], 1}}};
        const auto to = here[made];
        const RowsWithHoles holes(cells, here);
        node_means<Dim>(
            PatchGeometry<Dim>(here.cells()).node_box(), from, kTurns,
            [&](int j, int k) { return holes.has(j, k); },
            [&](const Int3& cell) { return cells.known(here, cell); },
            [&](int c) { return to.component(c); });
    });
}

template <int Dim>
void show_vortices(const Step& step, Shown& shown) {
    if (step.settings.output.vortices == 0) return;
    // Slices of meshes that move show those of their own step.
    const bool slices = !step.settings.output.slices.empty();
    const std::int64_t every = slices && step.grid.moves() ? 1 : step.settings.output.vortices;
    Graph& graph = step.graph;
    constexpr int kTurns = kVortexNumbers<Dim> - 1;
    shown.vorticity =
        graph.field<double>("vorticity", step.zones(), On::cells,
                            {.components = kTurns, .kept = true, .turns = Dim == 3 && step.zones().turns()});
    shown.criterion = graph.field<double>("Q criterion", step.zones(), On::cells, {.kept = true});
    Task none = graph.start().task("no vortices", step.zones());
    none.run([v = none.make(shown.vorticity), c = none.make(shown.criterion)](Here& here) {
        for_each(here.cells(), [&](int i, int j, int k) {
            here[c](i, j, k) = 0;
            for (int d = 0; d < kTurns; ++d) here[v](i, j, k, d) = 0;
        });
    });
    const auto due = graph.scalar<std::int32_t>("vortices are due");
    Task decide = graph.step().once("vortices?");
    decide.run([every, now = decide.make(due)](Here& here) { here[now] = here.step % every == 0 ? 1 : 0; });
    Scope& scope = graph.step().when<std::int32_t>("vortices", due, [](std::int32_t is) { return is != 0; });
    Task task = scope.task("vortices", step.zones());
    const CellsComputed cells(step.labels.overset, task, step.layers(1));
    task.run([cells, q = task.need(step.labels.q, step.layers(1).without_corners()),
              geometry = task.need(step.geometry()), vorticity = task.modify(shown.vorticity),
              criterion = task.modify(shown.criterion)](Here& here) {
        vortices<Dim>(here.cells(), here[q], PatchGeometry<Dim>(here.cells()).centres(here[geometry]),
                      here[vorticity], here[criterion],
                      [&](const Int3& cell) { return cells.known(here, cell); });
    });
    if (slices) show_vortices_at_nodes<Dim>(step, scope, shown);
}

/// The state at nodes.
template <int Dim>
void show_nodes(const Step& step, Shown& shown) {
    // Slices are written at the end as well, and no step knows whether it is the last one.
    const std::int64_t every = step.settings.output.slices.empty() ? step.settings.output.plot3d : 1;
    if (every == 0) return;
    shown.at_nodes = values_at_nodes<Dim>(step, "q at nodes", Dim + 2);
    Task task = step.graph.step().task("state at nodes", step.zones());
    const auto q = task.need(step.labels.q.last(), step.layers(1));
    const auto made = task.make(shown.at_nodes);
    const CellsComputed cells(step.labels.overset, task, step.layers(1));
    task.run([=](Here& here) {
        if (here.step % every != 0) return;
        const std::array<CellValues, 1> from{{{here[q], Dim + 2}}};
        const auto to = here[made];
        const RowsWithHoles holes(cells, here);
        node_means<Dim>(
            PatchGeometry<Dim>(here.cells()).node_box(), from, 0,
            [&](int j, int k) { return holes.has(j, k); },
            [&](const Int3& cell) { return cells.known(here, cell); },
            [&](int c) { return to.component(c); });
    });
}

/// iblank of the nodes of meshes that overlap: 1 where a cell around is computed; -n where one is
/// interpolated from zone n of the grids as given, the lowest of several; 101 where there are orphans alone;
/// 0 in holes.
template <int Dim>
void find_blanks(const Step& step, Scope& in, const Shown& shown, const std::string& name) {
    const auto& overset = step.labels.overset;
    Task task = in.task(name, step.zones());
    const CellsComputed cells(overset, task, step.layers(1));
    const auto donor = task.need(*overset->found->donor_zone, step.layers(1));
    const std::int64_t every = &in == &step.graph.start() ? 1 : step.settings.output.plot3d;
    task.run([=, made = task.make(shown.iblank), shapes = step.grid.source().zones()](Here& here) {
        if (here.step % every != 0) return;
        constexpr std::int32_t kOrphan = 101;
        std::int64_t n = 0;
        const auto zone_of = here[donor];
        for_each(PatchGeometry<Dim>(here.cells()).node_box(), [&](int i, int j, int k) {
            bool computed = false, orphan = false;
            std::int32_t lowest = 0;
            const Box around{{i - 1, j - 1, Dim == 3 ? k - 1 : k}, {i + 1, j + 1, k + 1}};
            for_each(common(around, zone_of.box()), [&](int a, int b, int c) {
                const Known is = cells.knowledge(here, {a, b, c});
                computed = computed || is == Known::computed;
                if (is != Known::interpolated) return;
                const std::int32_t zone = zone_of(a, b, c);
                orphan = orphan || zone == 0;
                if (zone == 0) return;
                const std::int32_t origin = shapes[static_cast<std::size_t>(zone) - 1].origin + 1;
                lowest = lowest == 0 ? origin : std::min(lowest, origin);
            });
            here[made][n++] = computed ? 1 : lowest > 0 ? -lowest : orphan ? kOrphan : 0;
        });
    });
}
template <int Dim>
void show_blanks(const Step& step, Shown& shown) {
    if (step.settings.output.plot3d == 0 || step.labels.overset == nullptr) return;
    const Zones& zones = step.zones();
    shown.iblank = step.graph.list<std::int32_t>(
        "iblank", zones,
        [&zones](int patch) { return PatchGeometry<Dim>(zones.box(patch)).node_box().volume(); },
        {.kept = true});
    find_blanks<Dim>(step, step.graph.start(), shown, "iblank");
    if (step.grid.moves()) find_blanks<Dim>(step, step.graph.step(), shown, "iblank in a step");
}

template <int Dim>
void show_probes(const Step& step, Shown& shown) {
    const std::vector<double>& all = step.settings.output.probes;
    if (all.empty()) return;
    Probes probes{.grid = step.zones(),
                  .dimensions = Dim,
                  .gamma = step.scheme.gas.gamma,
                  .points = {},
                  .nodes = nodes_of<Dim>(step.geometry()),
                  .centres = centres_of<Dim>(step.geometry()),
                  .known = known_of(step.labels.overset),
                  .moves = step.grid.moves()};
    for (std::size_t n = 0; n < all.size(); n += Dim) {
        Real3 x{};
        for (std::size_t d = 0; d < Dim; ++d) x[d] = all[n + d];
        probes.points.push_back(x);
    }
    const ProbeLabels labels = declare_probes(step.graph, step.graph.step(), probes, step.labels.q.last());
    Task task = step.graph.step().once("columns of probes");
    const auto values = task.need(labels.values);
    std::vector<std::pair<std::size_t, ScalarUse<double>>> columns;
    for (std::size_t n = 0; n < probes.points.size(); ++n)
        for (const auto& [name, at] : {std::pair{"rho", 0}, {"u", 1}, {"v", 2}, {"w", 3}, {"p", 4}}) {
            if (Dim == 2 && at == 3) continue;
            shown.probes.push_back(step.graph.scalar<double>(fmt::format("{} at {}", name, n + 1)));
            columns.emplace_back(kProbed * n + static_cast<std::size_t>(at), task.make(shown.probes.back()));
        }
    task.run([=](Here& here) {
        for (const auto& [at, column] : columns) here[column] = here[values][static_cast<std::int64_t>(at)];
    });
}

}  // namespace

template <int Dim>
Shown declare_shown(const Step& finest) {
    Shown shown;
    show_walls<Dim>(finest, shown);
    show_vortices<Dim>(finest, shown);
    show_nodes<Dim>(finest, shown);
    show_blanks<Dim>(finest, shown);
    show_probes<Dim>(finest, shown);
    declare_means<Dim>(finest, shown);
    return shown;
}

template Shown declare_shown<2>(const Step&);
template Shown declare_shown<3>(const Step&);

}  // namespace strata::flow
