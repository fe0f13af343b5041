// Grids that overlap, made from functions: for tests of their connectivity.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/declare/zones.hpp"
#include "methods/curvilinear/metrics.hpp"
#include "methods/overset/connectivity.hpp"

namespace strata::tests {

using namespace graph;

/// A zone that is a mesh by itself.
struct OversetMesh {
    std::string name;
    Int3 cells{1, 1, 1};
    std::function<Real3(const Int3& node)> place;
    bool ring = false;             // joined with itself along i
    std::vector<Face> walls = {};  // that cut others
    std::vector<Face> outer = {};  // ends within others
    bool open = false;             // the walls end at planes of symmetry
    bool cuts = true;
    std::optional<Rotation> turn = {};  // a sector: joined with itself along i, by this turn about z
};

/// A box of cells, its inner nodes moved by waves of this share of the extent, turned about z.
template <int Dim>
OversetMesh brick_mesh(const std::string& name, const Int3& cells, const Real3& low, const Real3& high,
                       double wave = 0, double turn = 0) {
    const auto place = [=](const Int3& node) {
        Real3 t{}, x{};
        for (std::size_t d = 0; d < Dim; ++d) t[d] = double(node[d]) / cells[d];
        double waves = wave;
        for (std::size_t d = 0; d < Dim; ++d) waves *= std::sin(std::numbers::pi * t[d]);
        for (std::size_t d = 0; d < Dim; ++d)
            x[d] = low[d] + (high[d] - low[d]) * (t[d] + waves * std::cos(3.0 * double(d) + 2 * t[0]));
        const double mx = (low[0] + high[0]) / 2, my = (low[1] + high[1]) / 2, c = std::cos(turn),
                     s = std::sin(turn);
        return Real3{mx + c * (x[0] - mx) - s * (x[1] - my), my + s * (x[0] - mx) + c * (x[1] - my), x[2]};
    };
    return {.name = name, .cells = cells, .place = place};
}

/// Around a circular cylinder of this radius, out to `outer` radii, its cells growing; along z from 0 to 1.
template <int Dim>
OversetMesh ring_mesh(const std::string& name, int around, int out, const Real3& centre, double radius,
                      double outer, int along = 1) {
    const auto place = [=](const Int3& node) {
        const double angle = -2 * std::numbers::pi * (node[0] == around ? 0 : node[0]) / around;
        const double r = radius * std::pow(outer, double(node[1]) / out);
        return Real3{centre[0] + r * std::cos(angle), centre[1] + r * std::sin(angle),
                     Dim == 3 ? double(node[2]) / along : 0};
    };
    return {.name = name,
            .cells = {around, out, Dim == 3 ? along : 1},
            .place = place,
            .ring = true,
            .walls = {{1, false}},
            .outer = {{1, true}},
            .open = Dim == 3};
}

/// A sector between the radii 1 and 2 about z, from z = 1 down to 0, joined with itself by this turn.
inline OversetMesh sector_mesh(const std::string& name, const Int3& cells, double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    const auto place = [=](const Int3& node) {
        Real3 t{};
        for (std::size_t d = 0; d < 3; ++d) t[d] = double(node[d]) / cells[d];
        const double wave = 0.02 * std::sin(std::numbers::pi * t[1]) * std::sin(std::numbers::pi * t[2]);
        const double a = angle * t[0], r = 1 + t[1] + wave;
        return Real3{r * std::cos(a), r * std::sin(a), 1 - t[2]};
    };
    return {
        .name = name, .cells = cells, .place = place, .turn = Rotation{{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}}};
}

inline std::vector<Face> all_faces(int dimensions) {
    std::vector<Face> all;
    for (int a = 0; a < dimensions; ++a) all.push_back({a, false}), all.push_back({a, true});
    return all;
}

/// The meshes in a graph, their connectivity, and a field that is interpolated in each step.
template <int Dim>
struct OversetGrids {
    Graph graph{"overset grids"};
    std::vector<OversetMesh> meshes;
    const Zones& zones;
    List<double> nodes;
    Field<double> centres, volumes, value, got;
    std::unique_ptr<overset::Problem> problem;
    std::optional<overset::Connectivity> connectivity;

    OversetGrids(std::vector<OversetMesh> wanted, int patch_cells,
                 std::vector<std::array<int, 2>> shared = {},
                 std::function<geometry::Rigid(int mesh, std::int64_t step)> placed = {})
        : meshes(std::move(wanted)), zones(make_zones(graph, meshes, patch_cells)) {
        graph.in_program_order();
        nodes = graph.list<double>("nodes", zones,
                                   [this](int patch) { return points(zones.box(patch)).volume(); },
                                   {.components = Dim});
        centres = graph.field<double>("centres", zones, On::cells,
                                      {.components = Dim, .kept = true, .turns = zones.turns()});
        volumes = graph.field<double>("volumes", zones, On::cells, {.kept = true});
        const auto values = [&](const char* name) {
            return graph.field<double>(
                name, zones, On::cells,
                {.components = kValues, .kept = true, .turns = zones.turns(), .vector = 2});
        };
        value = values("value"), got = values("got");
        problem = std::make_unique<overset::Problem>(overset::Problem{.grid = zones, .dimensions = Dim});
        overset::Problem& p = *problem;
        p.walls.resize(std::size_t(zones.patches()));
        p.outer = p.surfaces = p.walls;
        p.shared = std::move(shared);
        p.placed = std::move(placed);
        for (std::size_t m = 0; m < meshes.size(); ++m) {
            p.names.push_back(meshes[m].name);
            p.mesh.push_back(int(m));
            p.open.push_back(meshes[m].open);
            if (meshes[m].turn) p.turns = geometry::powers_of(*meshes[m].turn);
        }
        for (int patch = 0; patch < zones.patches(); ++patch) {
            const OversetMesh& mesh = meshes[std::size_t(zones.zone_of(patch))];
            const Box cells = zones.box(patch), all = zones.cells(zones.zone_of(patch));
            const auto at_end = [&](const Face& f) {
                const auto a = std::size_t(f.axis);
                return f.upper ? cells.hi[a] == all.hi[a] : cells.lo[a] == all.lo[a];
            };
            for (const Face& f : mesh.walls) {
                if (!at_end(f)) continue;
                p.surfaces[std::size_t(patch)].push_back(f);
                if (mesh.cuts) p.walls[std::size_t(patch)].push_back(f);
            }
            for (const Face& f : mesh.outer)
                if (at_end(f)) p.outer[std::size_t(patch)].push_back(f);
        }
        p.nodes = [this](Task& task) {
            return [use = task.need(nodes.last())](const Here& here) {
                const auto list = here[use];
                const Box box = points(here.cells());
                const std::ptrdiff_t y = box.extent(0), z = y * box.extent(1);
                return FieldView<const double>(&list[0] - box.lo[0] - box.lo[1] * y - box.lo[2] * z, y, z,
                                               &list.component(1)[0] - &list[0], box);
            };
        };
        p.centres = [this](Task& task) {
            return [use = task.need(centres.last(), ghosts({1, 1, Dim == 3 ? 1 : 0}))](const Here& here) {
                return here[use];
            };
        };
        p.quality = [this](Task& task) {
            return [use = task.need(volumes.last())](const Here& here) { return here[use]; };
        };
        declare_geometry();
        connectivity = overset::declare_connectivity(graph, p);
    }

    /// The field, 1, and a vector.
    static constexpr int kValues = 5;
    [[nodiscard]] const overset::Connectivity& found() const { return *connectivity; }
    [[nodiscard]] static Box points(const Box& cells) {
        return {cells.lo, {cells.hi[0] + 1, cells.hi[1] + 1, cells.hi[2] + (Dim == 3 ? 1 : 0)}};
    }

    /// The field is `of` at computed cells and 1e9 elsewhere; in each step receptors and orphans get theirs.
    template <class Value>
    void declare_exchange(Value of) {
        declare_exchange(of, [](const Real3&) { return Real3{}; });
    }
    template <class Value, class Vector>
    void declare_exchange(Value of, Vector vector) {
        Task first = graph.start().task("value", zones);
        first.run([=, this, c = first.need(centres), is = first.need(found().status), to = first.make(value),
                   g = first.make(got)](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                Real3 x{};
                for (int d = 0; d < Dim; ++d) x[std::size_t(d)] = here[c](i, j, k, d);
                here[to](i, j, k, 0) = here[is](i, j, k) == 1 ? of(x) : 1e9;
                here[to](i, j, k, 1) = here[is](i, j, k) == 1 ? 1 : 1e9;
                const Real3 u = vector(x);
                for (int d = 0; d < 3; ++d)
                    here[to](i, j, k, 2 + d) = here[is](i, j, k) == 1 ? u[std::size_t(d)] : 1e9;
                for (int c = 0; c < kValues; ++c) here[g](i, j, k, c) = 0;
            });
        });
        overset::Exchange exchange(graph, graph.step(), *problem, found());
        const overset::Interpolated values = exchange.interpolate(value.at(0));
        Task task = graph.step().task("take", zones);
        task.run(
            [=, from = values.need(task), is = task.need(found().status), to = task.modify(got)](Here& here) {
                const auto all = here[from];
                overset::for_each_receptor(here.cells(), here[is], [&](const Int3& at, std::size_t n) {
                    for (std::size_t c = 0; c < kValues; ++c)
                        here[to](at[0], at[1], at[2], int(c)) = all[kValues * n + c];
                });
            });
    }

  private:
    void declare_geometry() {
        Task first = graph.start().task("nodes", zones);
        first.run([this, made = first.make(nodes)](Here& here) {
            std::size_t n = 0;
            for_each(points(here.cells()), [&](int i, int j, int k) {
                const Real3 x = meshes[std::size_t(zones.zone_of(here.patch))].place({i, j, k});
                for (int d = 0; d < Dim; ++d) here[made].component(d)[n] = x[std::size_t(d)];
                ++n;
            });
        });
        Task task = graph.start().task("geometry", zones);
        task.run([x = problem->nodes(task), c = task.make(centres), v = task.make(volumes)](Here& here) {
            flow::centres<Dim>(here.cells(), x(here), here[c]);
            flow::volumes<Dim>(here.cells(), x(here), here[v]);
        });
    }
    static const Zones& make_zones(Graph& graph, const std::vector<OversetMesh>& meshes, int patch_cells) {
        ZoneList list("overset grids");
        for (const OversetMesh& mesh : meshes) {
            const int zone = list.zone({{0, 0, 0}, mesh.cells}, {patch_cells, patch_cells, patch_cells});
            if (mesh.ring) list.join(zone, Face{0, true}, zone, Face{0, false}, {1, 2, 3});
            if (mesh.turn) list.join(zone, Face{0, true}, zone, Face{0, false}, {1, 2, 3}, *mesh.turn);
        }
        return graph.add<Zones>(std::move(list));
    }
};

}  // namespace strata::tests
