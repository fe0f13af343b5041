// Meshes that overlap: their connectivity at the start, and the values of receptors in each step.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/run/case/key_text.hpp"
#include "methods/curvilinear/read.hpp"
#include "solvers/flow/overset_balance.hpp"
#include "solvers/flow/step.hpp"

namespace strata::flow {

using namespace graph;

namespace {

/// The turns that take the flow onto itself, those of joins by rotation.
std::vector<graph::Rotation> turns_of(const GridSystem& system) {
    const JoinRange* first = nullptr;
    std::vector<graph::Rotation> all{kNoRotation};
    for (const JoinRange& join : system.joins) {
        if (join.turn == kNoRotation) continue;
        if (first == nullptr) first = &join, all = geometry::powers_of(join.turn);
        if (std::none_of(all.begin(), all.end(), [&](const graph::Rotation& turn) {
                return geometry::difference(turn, join.turn) < 1e-9;
            }))
            throw Error("meshes that overlap are periodic by one turn about one axis")
                .given(fmt::format("{} and {} are joined by others", zone_text(*system.source, first->zone),
                                   zone_text(*system.source, join.zone)))
                .allowed("mesh.NAME.turn and turn_axis alike for all meshes that have them");
    }
    return all;
}

/// To the walls of each cell's own mesh. (To all walls it is the same at a place, whichever mesh has the
/// cell.)
template <int Dim>
Field<double> distance_in_meshes(const Step& step, const overset::Problem& p) {
    const Zones& zones = step.zones();
    WallSearch search{.grid = zones,
                      .dimensions = Dim,
                      .walls = p.surfaces,
                      .nodes = nodes_of<Dim>(step.labels.geometry),
                      .centres = step.labels.centres,
                      .distance = step.graph.field<double>(step.named("overset distance"), zones, On::cells),
                      .name = step.named("distance in meshes")};
    search.none = 1e30;  // far, but a number that can be compared and interpolated
    for (int patch = 0; patch < zones.patches(); ++patch)
        search.group.push_back(p.mesh[static_cast<std::size_t>(zones.zone_of(patch))]);
    declare_wall_distance(step.graph, search);
    return search.distance;
}

/// What the case says of meshes, and of the faces of patches.
template <int Dim>
void describe(const Step& step, overset::Problem& p) {
    const Zones& zones = step.zones();
    std::vector<std::string> on;
    std::vector<bool> cuts;
    for (const auto& [name, mesh] : step.settings.meshes) {
        p.names.push_back(name), on.push_back(mesh.on);
        cuts.push_back(mesh.cuts);
    }
    p.mesh = step.grid.system().mesh;
    p.turns = turns_of(step.grid.system());
    p.open.assign(p.names.size(), false);
    for (std::size_t m = 0; m < on.size(); ++m)
        if (!on[m].empty())
            p.shared.push_back(
                {static_cast<int>(m),
                 static_cast<int>(std::find(p.names.begin(), p.names.end(), on[m]) - p.names.begin())});
    p.walls.resize(static_cast<std::size_t>(zones.patches()));
    p.outer = p.surfaces = p.walls;
    for (int patch = 0; patch < zones.patches(); ++patch) {
        const auto number = static_cast<std::size_t>(patch);
        const auto mesh = static_cast<std::size_t>(p.mesh[static_cast<std::size_t>(zones.zone_of(patch))]);
        for (const auto& one : step.grid.boundaries(patch)) {
            const Condition condition = one.boundary->condition;
            if (is_wall(condition)) {
                p.surfaces[number].push_back(one.face.face);
                if (cuts[mesh]) p.walls[number].push_back(one.face.face);
            }
            if (condition == Condition::overset) p.outer[number].push_back(one.face.face);
            if (condition == Condition::symmetry) p.open[mesh] = true;
        }
    }
    p.nodes = nodes_of<Dim>(step.labels.geometry);
    p.centres = centres_of<Dim>(step.labels.geometry);
    p.quality_is_volume = step.settings.overset.better != "wall distance";
    if (!p.quality_is_volume)
        p.quality = [distance = distance_in_meshes<Dim>(step, p)](Task& task) {
            return [use = task.need(distance)](const Here& here) { return here[use]; };
        };
    else
        p.quality = [geometry = step.labels.geometry](Task& task) {
            return [use = task.need(geometry.last())](const Here& here) {
                return PatchGeometry<Dim>(here.cells()).volumes(here[use]);
            };
        };
    if (const GridSource& source = step.grid.source(); source.has_blanks())
        p.holes = [&source, &zones](int patch) {
            return blanked_cells(source, zones.zone_of(patch), zones.box(patch));
        };
    p.fringe = static_cast<int>(step.settings.overset.fringe);
    p.lean = step.settings.overset.lean;
    p.donor_zones = step.settings.output.plot3d > 0;
    if (step.grid.moves())
        p.placed = [motions = step.grid.motions()](int mesh, std::int64_t at_step) {
            return motions.placed(mesh, at_step);
        };
    p.name = step.named("overset");
}

struct Located {
    std::int64_t cells = 0;
    std::string where;
};
/// `count(zone)` cells, `first(zone)` the first of them, as cell_of() takes it.
template <class Count, class First>
Located located(const FlowZones& grid, Count&& count, First&& first) {
    Located all;
    for (int zone = 0; zone < grid.zones().zones(); ++zone) {
        const std::int64_t these = count(zone);
        all.cells += these;
        if (these == 0) continue;
        const Int3 at = overset::cell_of(grid.zones().cells(zone), first(zone));
        all.where += fmt::format("{}{} in {}, the first at cell {}", all.where.empty() ? "" : "; ", these,
                                 zone_text(grid.source(), zone), cell_text(grid.source(), zone, at));
    }
    return all;
}

template <class Counts>
Located located_orphans(const FlowZones& grid, const Counts& counts, const auto& first) {
    return located(
        grid, [&](int zone) { return counts[std::int64_t{overset::kCounts} * zone + overset::kOrphans]; },
        [&](int zone) { return first[zone]; });
}

/// Ends the run where others hide all cells of a mesh: it would be there for nothing.
void need_meshes(const Step& step, const overset::Connectivity& found) {
    Task task = step.graph.start().once(step.named("meshes compute?"));
    task.run([&grid = step.grid, &s = step.settings, counts = task.need(found.counts.last())](Here& here) {
        std::vector<std::int64_t> computed(s.meshes.size());
        for (int zone = 0; zone < grid.zones().zones(); ++zone)
            computed[static_cast<std::size_t>(grid.mesh_of(zone))] +=
                here[counts][std::int64_t{overset::kCounts} * zone + overset::kComputed];
        std::size_t number = 0;
        for (const auto& [name, mesh] : s.meshes)
            if (computed[number++] == 0)
                throw Error(
                    fmt::format("no cell of the mesh '{}' is computed: walls or better cells of other "
                                "meshes hide all of it",
                                name))
                    .at("", 0, "mesh." + graph::key_text(name) + ".kind")
                    .allowed("meshes each of which computes a part of the flow")
                    .remedy(
                        "take the mesh out, place it elsewhere, or give it smaller cells (overset.better)");
    });
}

/// Ends the run where there are more orphans than the case allows.
void limit_orphans(const Step& step, Scope& in, const overset::Connectivity& found) {
    Task task = in.once(step.named(&in == &step.graph.start() ? "orphans?" : "orphans in a step?"));
    task.run([&grid = step.grid, most = step.settings.overset.orphans,
              counts = task.need(found.counts.last()),
              first = task.need(found.first_orphans.last())](Here& here) {
        const Located all = located_orphans(grid, here[counts], here[first]);
        if (all.cells > most)
            here.fail(
                fmt::format("meshes overlap too little: {} cells have no donor, and overset.orphans = {} "
                            "allows no more: {}. Try more overlap, or cells of more equal size there",
                            all.cells, most, all.where));
    });
}

/// The same of cells that come out of holes where no other mesh knew the flow. The limit is that of a step;
/// `so_far` has those of all steps. Where cells have no donor at all, limit_orphans() says so: which task
/// runs first must not decide what is said.
void limit_orphans_out_of_holes(const Step& step, const OversetLabels& o) {
    Task task = step.graph.step().once(step.named("orphans out of holes?"));
    task.run([&grid = step.grid, most = step.settings.overset.orphans, counts = task.need(o.unknown->counts),
              first = task.need(o.unknown->first), no_donor = task.need(o.found->counts.last()),
              first_of_them = task.need(o.found->first_orphans.last()),
              before = task.need(o.unknown->so_far.previous()),
              now = task.make(o.unknown->so_far)](Here& here) {
        const Located all = located(
            grid, [&](int zone) { return here[counts][zone]; }, [&](int zone) { return here[first][zone]; });
        here[now] = here[before] + static_cast<double>(all.cells);
        if (all.cells > most && located_orphans(grid, here[no_donor], here[first_of_them]).cells <= most)
            here.fail(fmt::format(
                "{} cells come out of holes where no other mesh knew the flow a step ago, and "
                "overset.orphans = {} allows no more: {}. Try a smaller time.step, or more overlap, so that "
                "no mesh moves farther than a cell in a step",
                all.cells, most, all.where));
    });
}

}  // namespace

template <int Dim>
void declare_overset(const Step& step, bool finest) {
    if (!step.settings.overlaps() || !step.is_stage) return;
    auto labels = std::make_shared<OversetLabels>();
    labels->problem = std::make_unique<overset::Problem>(
        overset::Problem{.grid = step.zones(), .dimensions = Dim, .name = step.named("overset")});
    describe<Dim>(step, *labels->problem);
    labels->found = overset::declare_connectivity(step.graph, *labels->problem);
    if (finest) need_meshes(step, *labels->found);
    if (finest) limit_orphans(step, step.graph.start(), *labels->found);
    if (finest && step.grid.moves()) limit_orphans(step, step.graph.step(), *labels->found);
    if (finest && step.grid.moves())
        labels->unknown = {step.graph.scalars<std::int64_t>(step.named("orphans out of holes"), Reduce::sum,
                                                            step.zones().zones()),
                           step.graph.scalars<std::int64_t>(step.named("first orphans out of holes"),
                                                            Reduce::min, step.zones().zones()),
                           step.graph.scalar<double>(step.named("all orphans out of holes"), {.history = 1})};
    step.labels.overset = std::move(labels);
    declare_edges<Dim>(step);
}

namespace {

/// Of one variable in cells that come out of holes: what they get at both levels of time before the step.
class Uncovered {
  public:
    Uncovered(overset::Uncovering& uncovering, const Field<double>& now, const Field<double>& old,
              const Field<double>& older, int components)
        : now_(now),
          old_(old),
          older_(older),
          components_(components),
          from_now_(uncovering.interpolate(now)),
          from_before_(uncovering.interpolate(old.previous())) {}
    void use(Task& task) {
        values_ = from_now_.need(task), values_before_ = from_before_.need(task);
        oldest_ = task.need(old_.previous());
        q_ = task.modify(now_), q_old_ = task.modify(old_), q_older_ = task.make(older_);
    }
    /// orphan(cell): no other mesh knew the flow there.
    template <class Orphan>
    void in(const Here& here, const FieldView<const std::int32_t>& was,
            const FieldView<const std::int32_t>& is, Orphan&& orphan) const {
        copy_cells(here.cells(), components_, here[oldest_], here[q_older_]);
        overset::UncoveredAnswers now = from_now_.in(here, values_),
                                  before = from_before_.in(here, values_before_);
        const FieldView<double> q = here[q_], old = here[q_old_], older = here[q_older_];
        overset::for_each_uncovered(here.cells(), was, is, [&](const Int3& at) {
            // What a donor knows, it knows at both levels.
            const auto values = now.next(), values_before = before.next();
            if (values.orphan) orphan(at);
            if (values.of == nullptr) return;  // it keeps its own
            for (int c = 0; c < components_; ++c) {
                q(at[0], at[1], at[2], c) = old(at[0], at[1], at[2], c) = values.of[c];
                older(at[0], at[1], at[2], c) = values_before.of[c];
            }
        });
    }

  private:
    Field<double> now_, old_, older_;
    int components_;
    overset::UncoveredValues from_now_, from_before_;
    AnswersUse<double> values_{}, values_before_{};
    FieldUse<const double> oldest_{};
    FieldUse<double> q_{}, q_old_{}, q_older_{};
};

}  // namespace

template <int Dim>
void declare_uncovering(const Step& step) {
    const Labels& l = step.labels;
    const OversetLabels& o = *l.overset;
    overset::Uncovering uncovering(step.graph, *o.problem, *o.found);
    std::vector<Uncovered> all;
    all.emplace_back(uncovering, l.q, l.old, l.older, Dim + 2);
    if (step.turbulent())
        all.emplace_back(uncovering, l.nu_tilde, l.nu_old, l.nu_older, step.model_equations());
    Task task = step.graph.step().task(step.named("out of holes"), step.zones());
    const auto was = task.need(o.status().previous()), is = task.need(o.status());
    for (Uncovered& one : all) one.use(task);
    const auto counts = task.contribute(o.unknown->counts), first = task.contribute(o.unknown->first);
    task.run([=, &zones = step.zones()](Here& here) {
        const int zone = zones.zone_of(here.patch);
        here[counts].resize(zones.zones()), here[first].resize(zones.zones());
        std::int64_t count = 0;
        for (std::size_t n = 0; n < all.size(); ++n)
            all[n].in(here, here[was], here[is], [&](const Int3& at) {
                if (n > 0) return;
                ++count;
                auto& lowest = here[first][zone];
                lowest = std::min(lowest, overset::number_of(zones.cells(zone), at));
            });
        here[counts][zone] = count;
    });
    limit_orphans_out_of_holes(step, o);
}

void declare_exchange(const Step& step, Scope& in) {
    if (step.labels.overset == nullptr || !step.labels.overset->found) return;
    OversetLabels& o = *step.labels.overset;
    overset::Exchange exchange(step.graph, in, *o.problem, *o.found);
    o.q = exchange.interpolate(step.labels.q);
    if (step.turbulent()) o.nu_tilde = exchange.interpolate(step.labels.nu_tilde);
}

ReceptorsFilled::ReceptorsFilled(const Step& step, Task& task) : labels_(step.labels.overset) {
    if (labels_ != nullptr && !labels_->found) labels_ = nullptr;
    if (labels_ == nullptr) return;
    status_ = task.need(labels_->status());
    q_ = labels_->q->need(task);
    model_ = step.model_equations();
    if (model_ > 0) nu_ = labels_->nu_tilde->need(task);
}

void ReceptorsFilled::in(const Here& here, int components, const FieldView<double>& q,
                         const FieldView<double>& nu_tilde) const {
    if (labels_ == nullptr) return;
    const auto values = here[q_];
    std::span<const double> nu;
    if (model_ > 0) nu = here[nu_];
    overset::for_each_receptor(here.cells(), here[status_], [&](const Int3& at, std::size_t n) {
        for (int c = 0; c < components; ++c)
            q(at[0], at[1], at[2], c) =
                values[n * static_cast<std::size_t>(components) + static_cast<std::size_t>(c)];
        for (int m = 0; m < model_; ++m)
            nu_tilde(at[0], at[1], at[2], m) =
                nu[n * static_cast<std::size_t>(model_) + static_cast<std::size_t>(m)];
    });
}

template void declare_uncovering<2>(const Step&);
template void declare_uncovering<3>(const Step&);
template void declare_overset<2>(const Step&, bool);
template void declare_overset<3>(const Step&, bool);

}  // namespace strata::flow
