// Labels, and the tasks of the start: geometry, wall distance, first values.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "methods/curvilinear/metrics.hpp"
#include "methods/curvilinear/read.hpp"
#include "solvers/flow/boundary/wall_distance.hpp"
#include "solvers/flow/initial.hpp"
#include "solvers/flow/step.hpp"

namespace strata::flow {

using namespace graph;

const Collect& same_patches(const std::string& name, const Step& from, const Step& to) {
    Collect::Sources same(static_cast<std::size_t>(to.zones().patches()));
    for (std::size_t p = 0; p < same.size(); ++p) same[p] = {static_cast<int>(p)};
    return to.graph.add<Collect>(name, from.zones(), to.zones(), std::move(same));
}

namespace {

/// Of a grid that is a stage of the run: what is summed up over it, and extremes.
void make_sum_labels(const Step& step) {
    Graph& graph = step.graph;
    const std::string& prefix = step.prefix;
    Labels& l = step.labels;
    l.norms = graph.scalar<Norms>(prefix + "norms", Reduce::sum);
    l.share = graph.scalar<double>(prefix + "share", {.history = 1});
    l.failures = graph.scalar<double>(prefix + "failures", {.history = 1});
    l.wall_sums = graph.scalar<WallSums>(prefix + "walls", Reduce::sum);
    l.wall_extremes = graph.scalar<WallExtremes>(prefix + "wall extremes", Reduce::max,
                                                 -std::numeric_limits<double>::infinity());
    if (step.settings.rotor()) l.stations = graph.scalar<StationSums>(prefix + "stations", Reduce::sum);
    for (const Boundary& boundary : step.boundaries)
        if (boundary.condition == Condition::mass_outflow)
            l.outlets[boundary.name] =
                graph.scalar<OutletSums>(prefix + "outlet " + boundary.name, Reduce::sum);
    if (step.settings.verify.uniform > 0)
        l.departure = graph.scalar<double>(prefix + "departure", Reduce::max);
    if (step.settings.verify.error > 0) {
        l.squared_error = graph.scalar<double>(prefix + "squared error", Reduce::sum);
        l.volume = graph.scalar<double>(prefix + "volume", Reduce::sum);
    }
}

}  // namespace

void make_labels(const Step& step) {
    Graph& graph = step.graph;
    const std::string& prefix = step.prefix;
    const Zones& zones = step.zones();
    Labels& l = step.labels;
    const int dims = step.grid.dimensions(), state = dims + 2;
    const auto cells = [&](const char* name, int components, int border, bool kept = false, int history = 0,
                           int vector = -1) {
        const Int3 layers{border, border, dims == 3 ? border : 0};
        return graph.field<double>(prefix + name, zones, On::cells,
                                   {.components = components,
                                    .history = history,
                                    .border = layers,
                                    .kept = kept,
                                    .turns = zones.turns() && vector >= 0,
                                    .vector = std::max(0, vector)});
    };
    l.x = graph.field<double>(prefix + "x", zones, On::nodes, {.components = dims, .kept = true});
    const auto entries = [&zones, dims](bool moves) {
        return [&zones, dims, moves](int patch) {
            return dims == 2 ? PatchGeometry<2>(zones.box(patch)).entries(moves)
                             : PatchGeometry<3>(zones.box(patch)).entries(moves);
        };
    };
    l.geometry = graph.list<double>(prefix + "geometry", zones, entries(step.scheme.turns()));
    if (step.grid.moves()) l.moved = graph.list<double>(prefix + "moved geometry", zones, entries(true));
    l.centres = cells("centres", dims, kBorder, false, 0, 0);
    l.volumes = cells("volumes", 1, kBorder);
    l.q = cells("q", state, kBorder, true, 0, 1);
    if (step.scheme.viscous()) l.viscosity = cells("step viscosity", step_viscosities(step.scheme), 1);
    if (step.turbulent()) {
        if (step.is_stage) l.distance = cells("wall distance", 1, 0, true);
        l.nu_tilde =
            cells(step.scheme.is_sst() ? "k and omega" : "nu_tilde", step.model_equations(), kBorder, true);
    }
    if (!step.settings.steady()) {
        l.old = cells("q before", state, 0, false, 1);
        if (step.turbulent()) l.nu_old = cells("nu before", step.model_equations(), 0, false, 1);
        if (step.uncovers()) l.older = cells("q two before", state, 0);
        if (step.uncovers() && step.turbulent())
            l.nu_older = cells("nu two before", step.model_equations(), 0);
        l.drop = graph.scalar<std::array<double, 2>>(prefix + "drop", {.history = 1});
    }
    if (!step.is_stage) return;
    make_iteration_labels(step);
    make_sum_labels(step);
}

void make_iteration_labels(const Step& step) {
    Graph& graph = step.graph;
    Labels& l = step.labels;
    const int dims = step.grid.dimensions();
    const auto cells = [&](const std::string& name, int components) {
        return graph.field<double>(step.prefix + name, step.zones(), On::cells, {.components = components});
    };
    l.dq = cells("dq", dims + 2);
    l.diagonal = cells("diagonal", 1);
    if (step.has_lines()) {
        const int changes = dims + 2 + step.model_equations();
        l.line_matrix = cells("matrices of cells", dims == 2 ? kLineMatrix<2> : kLineMatrix<3>);
        for (int pass = 0; pass < dims; ++pass) {
            const std::string which = fmt::format("lines {}, ", pass + 1);
            Labels::Lines& of = l.lines[static_cast<std::size_t>(pass)];
            of.factors = cells(which + "factors",
                               dims == 2 ? line_factors<2>(step.scheme) : line_factors<3>(step.scheme));
            of.eliminated = cells(which + "eliminated", changes);
            if (pass < dims - 1) of.changed = cells(which + "changed", changes);
        }
    }
    if (const int model = step.model_equations(); model > 0)
        l.dnu = cells("dnu", model), l.diagonal_nu = cells("diagonal nu", model);
    l.changes = graph.scalar<Changes>(step.prefix + "changes", Reduce::sum);
    l.verdict = graph.scalar<double>(step.prefix + "verdict");
}

namespace {

/// Volumes of a coarser grid's cells, summed over those of the finer one: where its lines bend, a cell of
/// four far nodes could be without volume. (Areas of faces add up by themselves. Centres are those of the
/// nodes: means of the finer ones lie far from a curved wall, by many heights of its cells.)
template <int Dim>
void sum_volumes(const Box& cells, const FieldView<const double>& fine, const FieldView<double>& volumes) {
    for_each(cells, [&](int i, int j, int k) {
        double sum = 0;
        for_children<Dim>(i, j, k, [&](int a, int b, int c) { sum += fine(a, b, c); });
        volumes(i, j, k) = sum;
    });
}

/// Nodes from the source, and what follows from them on the patch alone. `finer`: of grids that serve
/// multigrid cycles alone, the next finer grid.
template <int Dim>
void find_metrics(const Step& step, const Step* finer) {
    const Labels& l = step.labels;
    Task task = step.graph.start().task(step.named("metrics"), step.zones());
    const auto geometry = task.make(l.geometry);
    const auto x = task.make(l.x);
    const auto centres = task.make(l.centres), volumes = task.make(l.volumes);
    CollectUse<const double> fine_volumes;
    const Zones* fine_zones = nullptr;
    if (finer != nullptr) {
        const Collect& relation = same_patches(step.named("cells of the finer grid"), *finer, step);
        fine_volumes = task.need(finer->labels.volumes, relation);
        fine_zones = &finer->zones();
    }
    task.run([=, &grid = step.grid, axisymmetric = step.scheme.axisymmetric,
              overlaps = step.settings.overlaps()](Here& here) {
        const PatchGeometry<Dim> of(here.cells());
        const int zone = grid.zones().zone_of(here.patch);
        if (fine_zones == nullptr) check_cells(grid.source(), zone, here.cells(), overlaps);
        const auto nodes = of.nodes(here[geometry]);
        const Box box = nodes.box();
        grid.source().nodes(zone, box, &nodes(box.lo[0], box.lo[1], box.lo[2]));
        const auto shown = here[x];
        for (int d = 0; d < Dim; ++d)
            for_each(shown.box(),
                     [&](int i, int j, int k) { shown(i, j, k, d) = nodes(i, j, Dim == 2 ? 0 : k, d); });
        const auto read = readable(nodes);
        for (int d = 0; d < Dim; ++d) {
            const auto faces = of.faces(here[geometry], d);
            if (axisymmetric)
                axisymmetric_face_vectors(d, faces.box(), read, faces);
            else
                face_vectors<Dim>(d, faces.box(), read, faces);
        }
        if (of.moves(here[geometry]))
            for (int d = 0; d < Dim; ++d) {
                const RigidMotion& motion = grid.frame();
                swept_volumes<Dim>(d, of.face_box(d), read, of.faces(here[geometry], d), motion.velocity,
                                   motion.spin, motion.centre, of.speeds(here[geometry], d));
            }
        flow::centres<Dim>(here.cells(), read, here[centres]);
        if (axisymmetric)
            axisymmetric_volumes(here.cells(), read, here[volumes]);
        else
            flow::volumes<Dim>(here.cells(), read, here[volumes]);
        if (fine_zones != nullptr) {
            const Box owned =
                fine_zones->owned(here.patch, On::cells, {kBorder, kBorder, Dim == 3 ? kBorder : 0});
            sum_volumes<Dim>(here.cells(), view_in(here[fine_volumes].all, 0, owned, 1), here[volumes]);
        }
        for (const auto& one : grid.boundaries(here.patch))
            fill_border_geometry<Dim>(one.face, read, here[centres], here[volumes]);
    });
}

/// Centres and volumes with what lies around the patch. Beyond a periodic join centres are seen where they
/// would be if the domain went on there: turned by the graph, and shifted.
template <int Dim>
void look_around(const Step& step) {
    const Labels& l = step.labels;
    Task task = step.graph.start().task(step.named("look around"), step.zones());
    const auto geometry = task.modify(l.geometry);
    const auto centres = task.need(l.centres, step.layers(1)), volumes = task.need(l.volumes, step.layers(1));
    task.run([=, &grid = step.grid](Here& here) {
        const PatchGeometry<Dim> of(here.cells());
        const auto c = of.centres(here[geometry]), v = of.volumes(here[geometry]);
        const auto from = here[centres], from_v = here[volumes];
        const Box seen = common(of.around(), from.box());
        for_each(of.around(), [&](int i, int j, int k) {
            const bool there = seen.contains(Int3{i, j, k});
            for (int d = 0; d < Dim; ++d)
                c(i, j, k, d) = there ? from(i, j, k, d) : std::numeric_limits<double>::quiet_NaN();
            v(i, j, k) = there ? from_v(i, j, k) : std::numeric_limits<double>::quiet_NaN();
        });
        for (const auto& [beyond, by] : grid.shifts(grid.zones().zone_of(here.patch)))
            for (int d = 0; d < Dim; ++d)
                for_each(common(of.around(), beyond), [&, d = d](int i, int j, int k) {
                    c(i, j, k, d) += by[static_cast<std::size_t>(d)];
                });
    });
}

template <int Dim>
void find_wall_distance(const Step& step) {
    const Zones& zones = step.zones();
    WallSearch search{.grid = zones,
                      .dimensions = Dim,
                      .walls = std::vector<std::vector<Face>>(static_cast<std::size_t>(zones.patches())),
                      .nodes = nodes_of<Dim>(step.labels.geometry),
                      .centres = step.labels.centres,
                      .distance = step.labels.distance,
                      .name = step.named("wall distance"),
                      .none = kFarFromWalls};
    for (int p = 0; p < zones.patches(); ++p)
        for (const auto& one : step.grid.boundaries(p))
            if (is_viscous_wall(one.boundary->condition))
                search.walls[static_cast<std::size_t>(p)].push_back(one.face.face);
    if (step.grid.moves() && step.grid.meshes() > 1) {
        for (int p = 0; p < zones.patches(); ++p) search.group.push_back(step.grid.mesh_of(zones.zone_of(p)));
        search.seen = [motions = step.grid.motions()](int mesh, int by, std::int64_t at_step) {
            return motions.seen(mesh, by, at_step);
        };
    }
    declare_wall_distance(step.graph, search);
}

/// Holes keep what they have: other programs leave anything there.
template <int Dim>
void read_state(const Here& here, const FlowZones& grid, const OriginValues& start,
                const CellsComputed& computed, const FieldView<double>& q) {
    const Box cells = here.cells();
    std::vector<double> values(static_cast<std::size_t>(cells.volume()));
    for (int c = 0; c < Dim + 2; ++c) {
        start.cells(grid.zones().zone_of(here.patch), c, cells, values.data());
        std::size_t n = 0;
        for_each(cells, [&](int i, int j, int k) {
            const double value = values[n++];
            if (computed.known(here, {i, j, k})) q(i, j, k, c) = value;
        });
    }
    for_each(cells, [&](int i, int j, int k) {
        if (!computed.known(here, {i, j, k})) return;
        double square = 0;
        for (int d = 1; d <= Dim; ++d) square += q(i, j, k, d) * q(i, j, k, d);
        if (!(q(i, j, k, 0) > 0) || !(q(i, j, k, Dim + 1) > 0.5 * square / q(i, j, k, 0)))
            here.fail(fmt::format("{} (flow.start) has no positive density and pressure at cell {} of {}",
                                  start.file().name(),
                                  cell_text(grid.source(), grid.zones().zone_of(here.patch), {i, j, k}),
                                  zone_text(grid.source(), grid.zones().zone_of(here.patch))));
    });
}

/// The model's variables in the far field.
std::array<double, 2> model_values(const Settings& s) {
    if (!s.scheme().is_sst()) return {s.flow.nu_tilde, 0};
    const FlowState far = s.far_field(2);
    return {far.k, far.omega};
}

template <int Dim>
void set_first_values(const Step& step) {
    const Labels& l = step.labels;
    const Scheme& scheme = step.scheme;
    Task task = step.graph.start().task(step.named("first values"), step.zones());
    const auto geometry = task.need(step.geometry().last());
    const auto q = task.make(l.q);
    const auto nu = task.make(l.nu_tilde), viscosity = task.make(l.viscosity);
    const CellsComputed computed(l.overset, task);
    task.run([=, &grid = step.grid, initial = Initial(step.settings, Dim), far = model_values(step.settings),
              model = step.model_equations(), start = step.start](Here& here) {
        const PatchGeometry<Dim> of(here.cells());
        const auto centres = of.centres(here[geometry]);
        const auto to = here[q];
        const auto turbulence = here[nu];
        for_each(here.cells(), [&](int i, int j, int k) {
            Real3 x{};
            for (int d = 0; d < Dim; ++d) x[static_cast<std::size_t>(d)] = centres(i, j, k, d);
            const auto state = conserved_of<Dim>(initial.at(x, 0), scheme.gas.gamma);
            for (int c = 0; c < Dim + 2; ++c) to(i, j, k, c) = state[static_cast<std::size_t>(c)];
            for (int m = 0; m < model; ++m) turbulence(i, j, k, m) = far[static_cast<std::size_t>(m)];
        });
        if (start) read_state<Dim>(here, grid, *start, computed, to);
        fill_borders<Dim>(here, grid, scheme, here[geometry], to, turbulence);
        if (scheme.keeps_eddies())  // found in each iteration, or received
            for (int c = 0; c < kSstViscosities; ++c)
                for_each(here[viscosity].box(),
                         [&](int i, int j, int k) { here[viscosity](i, j, k, c) = 0; });
        else if (scheme.viscous())
            step_viscosity<Dim>(here[viscosity].box(),
                                of.patch(here[geometry], readable(to), readable(turbulence), no_field()),
                                scheme, here[viscosity]);
    });
    if (!step.settings.steady()) {
        Task before = step.graph.start().task(step.named("no step before"), step.zones());
        const auto now = before.need(l.q);
        const auto old = before.make(l.old);
        const auto nu_now = before.need(l.nu_tilde);
        const auto nu_old = before.make(l.nu_old);
        before.run([=, model = step.model_equations()](Here& here) {
            copy_cells(here.cells(), Dim + 2, here[now], here[old]);
            if (model > 0) copy_cells(here.cells(), model, here[nu_now], here[nu_old]);
        });
    }
    if (!step.is_stage) return;
    Task once = step.graph.start().once(step.named("whole steps"));
    once.run([share = once.make(l.share)](Here& here) { here[share] = 1; });
}

}  // namespace

template <int Dim>
void declare_metrics(const Step& step, const Step* finer) {
    find_metrics<Dim>(step, step.is_stage ? nullptr : finer);
}

template <int Dim>
void declare_geometry(const Step& step) {
    look_around<Dim>(step);
    if (step.grid.moves()) declare_motion<Dim>(step, step.graph.start());
    if (step.turbulent() && step.is_stage) find_wall_distance<Dim>(step);
}

template <int Dim>
void declare_start(const Step& step, bool finest) {
    declare_geometry<Dim>(step);
    declare_overset<Dim>(step, finest);
    set_first_values<Dim>(step);
}

template <int Dim>
void declare_interpolation(const Step& coarse, const Step& fine, Scope& in) {
    const Labels& l = fine.labels;
    const Scheme& scheme = fine.scheme;
    const Collect& relation = same_patches(fine.named("from the grid before"), coarse, fine);
    Task task = in.task(fine.named("interpolate"), fine.zones());
    const auto from = task.need(coarse.labels.q, relation);
    const auto geometry = task.need(l.geometry);
    const auto q = task.modify(l.q);
    const auto from_nu = task.need(coarse.labels.nu_tilde, relation);
    const auto nu = task.modify(l.nu_tilde);
    const bool follows = fine.viscosity_follows();
    const auto viscosity = task.modify(l.viscosity.where(follows));
    task.run([=, &grid = fine.grid, &before = coarse.zones(), model = fine.model_equations()](Here& here) {
        const PatchGeometry<Dim> of(here.cells());
        const auto to = here[q];
        const auto turbulence = here[nu];
        const Box owned = before.owned(here.patch, On::cells, {kBorder, kBorder, Dim == 3 ? kBorder : 0});
        const auto values = components_in(here[from].all, owned, Dim + 2);
        for_each(here.cells(), [&](int i, int j, int k) {
            for (int c = 0; c < Dim + 2; ++c) to(i, j, k, c) = values(i / 2, j / 2, Dim == 3 ? k / 2 : k, c);
        });
        if (scheme.turbulent()) {
            const auto nu_values = components_in(here[from_nu].all, owned, model);
            for_each(here.cells(), [&](int i, int j, int k) {
                for (int m = 0; m < model; ++m)
                    turbulence(i, j, k, m) = nu_values(i / 2, j / 2, Dim == 3 ? k / 2 : k, m);
            });
        }
        fill_borders<Dim>(here, grid, scheme, here[geometry], to, turbulence);
        if (follows)
            step_viscosity<Dim>(here[viscosity].box(),
                                of.patch(here[geometry], readable(to), readable(turbulence), no_field()),
                                scheme, here[viscosity]);
    });
}

template void declare_interpolation<2>(const Step&, const Step&, Scope&);
template void declare_interpolation<3>(const Step&, const Step&, Scope&);
template void declare_metrics<2>(const Step&, const Step*);
template void declare_metrics<3>(const Step&, const Step*);
template void declare_geometry<2>(const Step&);
template void declare_geometry<3>(const Step&);
template void declare_start<2>(const Step&, bool);
template void declare_start<3>(const Step&, bool);

}  // namespace strata::flow
