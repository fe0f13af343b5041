// A flow around a body in two joined zones, of which one is turned, for tests of what the flow solver does
// across zones: wall distance, forces, surfaces, probes. 24 cells around, 4 out, and 3 along z in three
// dimensions.
#pragma once

#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "core/graph/declare/zones.hpp"
#include "methods/curvilinear/metrics.hpp"
#include "solvers/flow/boundary/states.hpp"
#include "solvers/flow/boundary/wall_distance.hpp"
#include "solvers/flow/output/probes.hpp"
#include "solvers/flow/output/surface.hpp"

namespace strata::tests {

using namespace graph;

template <int Dim>
struct Ring {
    static constexpr int kAround = 24, kOut = 4, kDeep = Dim == 3 ? 3 : 1;

    Graph graph{"ring"};
    const Zones& zones;
    flow::Boundary body{.condition = flow::Condition::wall}, outer{},
        ends{.condition = flow::Condition::symmetry};
    List<double> nodes;
    Field<double> centres, volumes, distance, q;

    explicit Ring(int patch_cells) : zones(make_zones(graph, patch_cells)) {
        nodes = graph.list<double>("nodes", zones,
                                   [this](int patch) { return points(zones.box(patch)).volume(); },
                                   {.components = Dim, .kept = true});
        const Int3 border{2, 2, Dim == 3 ? 2 : 0};
        centres = graph.field<double>("centres", zones, On::cells,
                                      {.components = Dim, .border = border, .kept = true});
        volumes = graph.field<double>("volumes", zones, On::cells, {.border = border, .kept = true});
        distance = graph.field<double>("distance", zones, On::cells, {.kept = true});
        q = graph.field<double>("q", zones, On::cells,
                                {.components = Dim + 2, .border = border, .kept = true});
    }

    /// Around against the clock's sense from 0 to 24, out from 0 to 4, along z.
    static Real3 place(double around, double out, double along) {
        const double angle =
            -2 * std::numbers::pi * (around >= kAround ? around - kAround : around) / kAround;
        const double r = (0.8 + 0.3 * out * (1 + 0.2 * out)) * (1 + 0.15 * std::cos(3 * angle));
        return {r * std::cos(angle), r * std::sin(angle) + 0.1 * r,
                Dim == 3 ? 0.4 * along + 0.05 * std::cos(angle) : 0};
    }
    /// A node of a zone: zone 1 has `out` along x, and `around` backwards along y.
    static Real3 node(int zone, const Int3& at) {
        return zone == 0 ? place(at[0], at[1], at[2]) : place(kAround - at[1], at[0], at[2]);
    }
    [[nodiscard]] static Box points(const Box& cells) {
        return {cells.lo, {cells.hi[0] + 1, cells.hi[1] + 1, cells.hi[2] + (Dim == 3 ? 1 : 0)}};
    }
    [[nodiscard]] flow::ViewOf nodes_of() const {
        return [label = nodes](Task& task) {
            return [use = task.need(label.last())](const Here& here) {
                const auto list = here[use];
                const Box box = points(here.cells());
                const std::ptrdiff_t y = box.extent(0), z = y * box.extent(1);
                return FieldView<const double>(&list[0] - box.lo[0] - box.lo[1] * y - box.lo[2] * z, y, z,
                                               &list.component(1)[0] - &list[0], box);
            };
        };
    }

    [[nodiscard]] flow::ViewOf centres_of() const {
        return [label = centres](Task& task) {
            return [use = task.need(label.last(), ghosts(1).without_corners())](const Here& here) {
                return here[use];
            };
        };
    }

    /// What lies on the faces of a patch; null: a neighbour.
    [[nodiscard]] std::array<const flow::Boundary*, 6> on(int patch) const {
        std::array<const flow::Boundary*, 6> all{};
        const int out = zones.zone_of(patch) == 0 ? 1 : 0;
        for (int axis = 0; axis < Dim; ++axis)
            for (const int upper : {0, 1})
                if (zones.at_border(patch, axis, upper))
                    all[static_cast<std::size_t>(2 * axis + upper)] = axis == 2     ? &ends
                                                                      : axis != out ? nullptr
                                                                      : upper == 1  ? &outer
                                                                                    : &body;
        return all;
    }
    [[nodiscard]] std::vector<std::vector<Face>> walls() const {
        std::vector<std::vector<Face>> all(static_cast<std::size_t>(zones.patches()));
        for (int patch = 0; patch < zones.patches(); ++patch)
            for (const auto& one : flow::PatchBoundaries(zones.box(patch), on(patch), Dim))
                if (one.boundary == &body) all[static_cast<std::size_t>(patch)].push_back(one.face.face);
        return all;
    }

    void declare_geometry() {
        graph.in_program_order();
        Task first = graph.start().task("nodes", zones);
        first.run([this, made = first.make(nodes)](Here& here) {
            std::size_t n = 0;
            for_each(points(here.cells()), [&](int i, int j, int k) {
                const Real3 x = node(zones.zone_of(here.patch), {i, j, k});
                for (int d = 0; d < Dim; ++d) here[made].component(d)[n] = x[static_cast<std::size_t>(d)];
                ++n;
            });
        });
        Task task = graph.start().task("geometry", zones);
        task.run([this, x = nodes_of()(task), c = task.make(centres), v = task.make(volumes)](Here& here) {
            flow::centres<Dim>(here.cells(), x(here), here[c]);
            flow::volumes<Dim>(here.cells(), x(here), here[v]);
            for (const auto& one : flow::PatchBoundaries(here.cells(), on(here.patch), Dim))
                flow::fill_border_geometry<Dim>(one.face, x(here), here[c], here[v]);
        });
    }
    void declare_distance() {
        flow::declare_wall_distance(graph, {.grid = zones,
                                            .dimensions = Dim,
                                            .walls = walls(),
                                            .nodes = nodes_of(),
                                            .centres = centres,
                                            .distance = distance});
    }
    /// A flow by the place of centres.
    template <class Value>
    void declare_flow(Value value) {
        Task task = graph.start().task("flow", zones);
        task.run([this, value, x = nodes_of()(task), c = task.need(centres), to = task.make(q)](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                Real3 at{};
                for (int d = 0; d < Dim; ++d) at[static_cast<std::size_t>(d)] = here[c](i, j, k, d);
                flow::put_state<Dim>(1.4, here[to], {i, j, k}, value(at));
            });
            for (const auto& one : flow::PatchBoundaries(here.cells(), on(here.patch), Dim))
                flow::fill_border<Dim>(1.4, *one.boundary, one.face, x(here), here[to]);
        });
    }
    [[nodiscard]] flow::SurfaceLabels declare_surface(const flow::Gas& gas,
                                                      const flow::Reference& reference) {
        flow::Surface surface{zones, Dim, {}, gas, {}, reference, nodes_of(), centres_of(), {}};
        for (const auto& faces : walls()) {
            surface.walls.emplace_back();
            for (const Face& face : faces) surface.walls.back().push_back({face, &body});
        }
        return flow::declare_surface(graph, graph.step(), surface, q.last());
    }

  private:
    static const Zones& make_zones(Graph& graph, int patch_cells) {
        ZoneList list("ring");
        const Int3 size{patch_cells, patch_cells, patch_cells};
        const int a = list.zone({{0, 0, 0}, {16, kOut, kDeep}}, size);
        const int b = list.zone({{0, 0, 0}, {kOut, 8, kDeep}}, size);
        list.join(a, Face{0, true}, b, Face{1, true}, {-2, 1, 3});
        list.join(b, Face{1, false}, a, Face{0, false}, {2, -1, 3});
        return graph.add<Zones>(std::move(list));
    }
};

}  // namespace strata::tests
