#include "methods/overset/connectivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "methods/geometry/sides.hpp"
#include "methods/overset/hole_map.hpp"
#include "methods/overset/parts.hpp"
#include "methods/overset/ratios.hpp"

namespace strata::overset {

using namespace graph;

std::vector<Int3> seen_from_cell(int dimensions) {
    std::vector<Int3> all;
    const int k = dimensions == 3 ? kFringe : 0;
    for_each({{-kFringe, -kFringe, -k}, {kFringe + 1, kFringe + 1, k + 1}}, [&](int a, int b, int c) {
        const int far = std::max({std::abs(a), std::abs(b), std::abs(c)});
        const int steps = std::abs(a) + std::abs(b) + std::abs(c);
        if (far > 0 && (far == 1 || steps == far)) all.push_back({a, b, c});
    });
    return all;
}

std::optional<Real3> over_shared_wall(const Surface& wall, const Real3& x, const Real3& foot, double reach) {
    const Real3 there = wall.nearest(foot);
    double step = 0, height = 0;
    for (std::size_t d = 0; d < 3; ++d) {
        step += (there[d] - foot[d]) * (there[d] - foot[d]);
        height += (x[d] - foot[d]) * (x[d] - foot[d]);
    }
    if (wall.facets().empty() || std::sqrt(step) > 0.25 * reach) return std::nullopt;
    const double share = std::clamp(2 - std::sqrt(height) / reach, 0.0, 1.0);
    if (share == 0) return std::nullopt;
    Real3 moved = x;
    for (std::size_t d = 0; d < 3; ++d) moved[d] += share * (there[d] - foot[d]);
    return moved;
}

namespace {

/// Whether there is a cell at these indices of the patch's zone.
bool is_there(const Zones& grid, int zone, const Int3& at) {
    return grid.cells(zone).contains(at) || grid.find(zone, at).has_value();
}

template <int Dim>
Donors donors_of(const Zones& grid, int patch, const FieldView<const double>& centres) {
    const int zone = grid.zone_of(patch);
    const Box &cells = grid.box(patch), &all = grid.cells(zone);
    Box bases = cells;
    for (std::size_t a = 0; a < Dim; ++a)
        if (cells.lo[a] == all.lo[a]) --bases.lo[a];
    Donors made;
    made.bases = bases;
    made.number.assign(z(bases.volume()), -1);
    std::vector<geometry::NumberedBox> boxes;
    // Looks beyond the zone are slow and few: whether there is a cell in each place of the layer around.
    const Box around = cells.grown({1, 1, Dim == 3 ? 1 : 0});
    std::vector<std::uint8_t> there(z(around.volume()));
    std::size_t n = 0;
    for_each(around, [&](int i, int j, int k) { there[n++] = is_there(grid, zone, {i, j, k}) ? 1 : 0; });
    const auto has = [&](const Int3& at) {
        return around.contains(at) &&
               there[z((std::int64_t{at[2] - around.lo[2]} * around.extent(1) + (at[1] - around.lo[1])) *
                           around.extent(0) +
                       (at[0] - around.lo[0]))] != 0;
    };
    for_each(bases, [&](int i, int j, int k) {
        const Int3 base{i, j, k};
        Corners<Dim> x;
        for (int c = 0; c < 1 << Dim; ++c) {
            const Int3 at = corner_of(base, c);
            if (!has(at)) return;
            x[z(c)] = point_at(centres, Dim, at);
        }
        std::uint8_t open = 0;
        for (std::size_t a = 0; a < Dim; ++a)
            for (const int upper : {0, 1}) {
                Int3 beyond = base;
                beyond[a] += upper == 1 ? 2 : -1;
                // Two layers away lies outside of `around`, and is then asked for by itself.
                if (!(around.contains(beyond) ? has(beyond) : is_there(grid, zone, beyond)))
                    open = static_cast<std::uint8_t>(open | 1U << (2 * a + z(upper)));
            }
        Bounds box;
        for (const Real3& corner : x) box.add(corner);
        for (std::size_t a = 0; a < Dim; ++a)
            for (const int upper : {0, 1})
                if ((open >> (2 * a + z(upper)) & 1) != 0)
                    for (std::size_t c = 0; c < x.size(); ++c) {
                        if (static_cast<int>(c >> a & 1) != upper) continue;
                        const Real3 &at = x[c], &other = x[c ^ std::size_t{1} << a];
                        Real3 out = at;
                        for (std::size_t d = 0; d < 3; ++d) out[d] += 0.6 * (at[d] - other[d]);
                        box.add(out);
                    }
        const auto number = static_cast<std::int32_t>(made.base.size());
        made.number[z(number_of(bases, base))] = number;
        made.base.push_back(base);
        made.open.push_back(open);
        boxes.push_back({box.grown(1e-9), number});
    });
    made.tree = geometry::Tree(std::move(boxes));
    return made;
}

void check(const Problem& p) {
    for (int zone = 0; zone < p.grid.zones(); ++zone)
        for (int a = 0; a < p.dimensions; ++a)
            if (p.grid.cells(zone).extent(a) < 2)
                throw Error("grids that overlap need two cells or more along each axis")
                    .given(fmt::format("a zone of mesh '{}' with {} x {} x {} cells", p.mesh_name(zone),
                                       p.grid.cells(zone).extent(0), p.grid.cells(zone).extent(1),
                                       p.grid.cells(zone).extent(2)))
                    .allowed("2 or more")
                    .remedy("a finer mesh; where a map cuts the zone, ranges that end elsewhere");
}

/// What the parts hand on to each other: which patches and meshes cut, and labels between tasks.
Parts make_parts(Graph& graph, const Problem& p) {
    std::vector<int> wall_patches, cutting(p.names.size(), -1);
    std::int64_t most = 0;
    for (int patch = 0; patch < p.grid.patches(); ++patch) {
        most = std::max(most, p.grid.box(patch).volume());
        if (p.walls[z(patch)].empty()) continue;
        wall_patches.push_back(patch);
        cutting[z(p.mesh[z(p.grid.zone_of(patch))])] = 0;
    }
    int cuts = 0;
    for (int& c : cutting)
        if (c == 0) c = cuts++;
    const auto bytes_of = [](const auto& object) { return object.bytes(); };
    return {
        graph,
        p,
        wall_patches,
        cutting,
        cuts,
        most,
        graph.object<Donors>(p.name + ": donors", p.grid, {.bytes = bytes_of}),
        graph.object<Surface>(p.name + ": cutters", p.grid, {.bytes = bytes_of}),
        graph.object<Surface>(p.name + ": surfaces", p.grid, {.bytes = bytes_of}),
        graph.object<Work>(p.name + ": work", p.grid),
        graph.scalars<double>(p.name + ": boxes", Reduce::min, 6 * p.grid.patches()),
        graph.scalars<double>(p.name + ": boxes of walls", Reduce::min,
                              static_cast<int>(6 * std::max<std::size_t>(1, wall_patches.size()))),
        graph.field<std::int32_t>(p.name + ": holes", p.grid, On::cells),
        graph.field<std::int32_t>(p.name + ": state", p.grid, On::cells),
        graph.scalars<std::int32_t>(p.name + ": marks", Reduce::max,
                                    static_cast<int>(HoleMap::cells(p.dimensions) * z(std::max(1, cuts)))),
        {}};
}

/// The labels of the result. `most`: cells of a patch.
Connectivity make_connectivity(Graph& graph, const Problem& p, std::int64_t most) {
    // All cells of a small patch may be receptors; of a large one those of two layers around, and more.
    const auto room = static_cast<int>(most <= 4096 ? most : std::max<std::int64_t>(4096, most / 2));
    Connectivity made{
        graph.field<std::int32_t>(p.name + " status", p.grid, On::cells,
                                  {.history = p.moves() ? 1 : 0, .kept = true}),
        Questions<Wanted>(graph, p.name + ": wanted", p.grid, p.grid, room),
        graph.scalars<std::int64_t>(p.name + ": counts", Reduce::sum, kCounts * p.grid.zones(),
                                    {.kept = true}),
        graph.scalars<std::int64_t>(p.name + ": first orphans", Reduce::min, p.grid.zones(), {.kept = true}),
        graph.scalar<std::array<double, 2>>(p.name + ": volume ratios", Reduce::max, -Bounds::kNone,
                                            {.kept = true}),
        graph.scalars<std::int64_t>(p.name + ": volume ratios by size", Reduce::sum, kRatioBins,
                                    {.kept = true}),
        room};
    if (p.donor_zones)
        made.donor_zone =
            graph.field<std::int32_t>(p.name + ": zones of donors", p.grid, On::cells, {.kept = true});
    if (!p.shared.empty())
        made.share = graph.field<double>(p.name + ": share of walls", p.grid, On::cells, {.kept = true});
    // Each asks its donors in all other meshes, of which few lie at one place, and its own mesh.
    const int asked = static_cast<int>(std::min<std::size_t>(p.names.size(), 4));
    if (p.moves()) made.uncovered.emplace(graph, p.name + ": uncovered", p.grid, p.grid, asked * room);
    return made;
}

void declare_in(Parts& parts, const When& when, const Connectivity& made) {
    parts.when = when.in_step ? ", in a step" : "";
    const auto rounds = parts.graph.scalar<std::int64_t>(parts.named("changes"), Reduce::sum);
    declare_holes(parts, when);
    declare_search(parts, when);
    declare_choice(parts, when, rounds);
    declare_lists(parts, when, rounds, made);
    if (made.share) declare_shares(parts, when, made);
}

}  // namespace

void declare_geometry(Parts& parts) {
    const Problem& p = parts.p;
    {
        Task task = parts.graph.start().task(parts.named("cells between centres"), p.grid);
        const auto centres = p.centres(task);
        const auto donors = task.make(parts.donors);
        const auto boxes = task.contribute(parts.boxes);
        task.run([=, &grid = p.grid, dimensions = p.dimensions](Here& here) {
            here[donors] = dimensions == 2 ? donors_of<2>(grid, here.patch, centres(here))
                                           : donors_of<3>(grid, here.patch, centres(here));
            here[boxes].resize(6 * grid.patches());
            put_bounds(here[boxes], here.patch, here[donors].tree.bounds());
        });
    }
    const auto surface_of = [&p](const std::vector<std::vector<Face>>& faces, const char* name, Parts& of,
                                 Object<Surface> label, bool boxed) {
        Task task = of.graph.start().task(of.named(name), p.grid);
        if (boxed) task.on(of.wall_patches);
        const auto nodes = p.nodes(task);
        const auto made = task.make(label);
        ScalarsUse<double> boxes;
        if (boxed) boxes = task.contribute(of.wall_boxes);
        task.run([=, dimensions = p.dimensions, turns = p.turns, patches = of.wall_patches](Here& here) {
            std::vector<geometry::Facet> facets;
            const auto x = nodes(here);
            for (const Face& face : faces[z(here.patch)])
                geometry::add_side(dimensions, here.cells(), face, x, geometry::Diagonal::same, facets);
            // Walls that cut do so wherever turns take them.
            const std::size_t own = facets.size();
            for (std::size_t t = 1; boxed && t < turns.size(); ++t)
                for (std::size_t n = 0; n < own; ++n) {
                    geometry::Facet facet = facets[n];
                    for (Real3& corner : facet) corner = turned(turns[t], corner);
                    facets.push_back(facet);
                }
            here[made] = Surface(dimensions, facets);
            if (!boxed) return;
            here[boxes].resize(static_cast<std::int64_t>(6 * patches.size()));
            put_bounds(here[boxes],
                       std::lower_bound(patches.begin(), patches.end(), here.patch) - patches.begin(),
                       here[made].bounds());
        });
    };
    if (!parts.wall_patches.empty()) surface_of(p.walls, "walls that cut", parts, parts.surface, true);
    if (!p.shared.empty()) surface_of(p.surfaces, "walls", parts, parts.own_walls, false);
}

Connectivity declare_connectivity(Graph& graph, const Problem& p) {
    check(p);
    graph.in_program_order();  // refuses graphs with tasks that were declared without it
    Parts parts = make_parts(graph, p);
    Connectivity made = make_connectivity(graph, p, parts.patch_cells);
    declare_geometry(parts);
    if (parts.cuts > 0) declare_maps(parts);
    declare_in(parts, {graph.start()}, made);
    if (p.moves()) declare_in(parts, {graph.step(), true}, made);
    return made;
}

}  // namespace strata::overset
