// Cells inside the closed walls of other meshes.
//
// A uniform map around each mesh's walls tells most cells at once. Those in cells of the map that a wall may
// touch ask the patches with walls: each answers through which of a few rays from there its own elements lie
// an odd number of times, and what all of them say together decides.
#include <algorithm>
#include <optional>
#include <vector>

#include "methods/overset/hole_map.hpp"
#include "methods/overset/parts.hpp"

namespace strata::overset {

using namespace graph;

namespace {

struct RayQuestion {
    Real3 x, foot;
    double reach;  // of the foot; 0: none
};
struct RayAnswer {
    std::uint32_t odd, shared;
};

/// The mesh of each patch with walls, as one that cuts.
std::vector<int> cut_of_walls(const Parts& parts) {
    std::vector<int> all;
    for (const int patch : parts.wall_patches) all.push_back(parts.cutting[z(parts.mesh_of(patch))]);
    return all;
}

/// Bounds of the walls of each mesh that cuts.
template <class Numbers>
std::vector<Bounds> bounds_of_cuts(const Numbers& boxes, const std::vector<int>& cut, int cuts) {
    std::vector<Bounds> all(z(cuts));
    for (std::size_t w = 0; w < cut.size(); ++w)
        all[z(cut[w])].add(bounds_in(boxes, static_cast<std::int64_t>(w)));
    return all;
}

/// The nearest wall face of the patch in the same column of cells as each cell, by its centre.
template <int Dim>
std::vector<Work::Foot> feet_of(const Box& cells, const std::vector<Face>& faces,
                                const FieldView<const double>& nodes,
                                const FieldView<const double>& centres) {
    std::vector<Work::Foot> feet;
    if (faces.empty()) return feet;
    feet.resize(z(cells.volume()));
    std::size_t n = 0;
    for_each(cells, [&](int i, int j, int k) {
        const Real3 x = point_at(centres, Dim, {i, j, k});
        double least = Bounds::kNone;
        for (const Face& face : faces) {
            Int3 at{i, j, k};
            const auto a = z(face.axis);
            at[a] = face.upper ? cells.hi[a] : cells.lo[a];
            // The middle of the face, and its longest side.
            Real3 middle{};
            Bounds box;
            for (int c = 0; c < 1 << (Dim - 1); ++c) {
                Int3 node = at;
                int bit = 0;
                for (std::size_t b = 0; b < Dim; ++b)
                    if (b != a) node[b] += c >> bit++ & 1;
                const Real3 corner = point_at(nodes, Dim, node);
                box.add(corner);
                for (std::size_t d = 0; d < 3; ++d) middle[d] += corner[d] / (1 << (Dim - 1));
            }
            double away = 0, side = 0;
            for (std::size_t d = 0; d < 3; ++d) {
                away += (x[d] - middle[d]) * (x[d] - middle[d]);
                side = std::max(side, box.hi[d] - box.lo[d]);
            }
            if (away < least) least = away, feet[n] = {middle, side};
        }
        ++n;
    });
    return feet;
}

}  // namespace

/// Cells of the map of each mesh that its walls may touch.
void declare_maps(Parts& parts) {
    Task task = parts.graph.start().task(parts.named("map of walls"), parts.p.grid);
    task.on(parts.wall_patches);
    const auto surface = task.need(parts.surface);
    const auto boxes = task.need(parts.wall_boxes);
    const auto marked = task.contribute(parts.marks);
    task.run([=, cut = cut_of_walls(parts), cuts = parts.cuts, dimensions = parts.p.dimensions,
              patches = parts.wall_patches](Here& here) {
        const std::size_t number =
            z(std::lower_bound(patches.begin(), patches.end(), here.patch) - patches.begin());
        const HoleMap map(dimensions, bounds_of_cuts(here[boxes], cut, cuts)[z(cut[number])]);
        const auto cells = static_cast<std::int64_t>(HoleMap::cells(dimensions));
        here[marked].resize(cells * cuts);
        for (const geometry::NumberedFacet& facet : here[surface].facets())
            map.mark(facet.corners, [&](std::size_t cell) {
                here[marked][cells * cut[number] + static_cast<std::int64_t>(cell)] = 1;
            });
    });
}

namespace {

/// The map of a mesh that cuts, from the marks of all its walls.
template <class Numbers>
HoleMap map_of(const Numbers& marked, int cut, int dimensions, const Bounds& bounds) {
    const std::size_t size = HoleMap::cells(dimensions);
    std::vector<bool> is_marked(size);
    for (std::size_t n = 0; n < size; ++n)
        is_marked[n] = marked[static_cast<std::int64_t>(size * z(cut) + n)] == 1;
    HoleMap map(dimensions, bounds);
    map.fill(is_marked);
    return map;
}

/// The cells of a patch, looked up in the maps of other meshes: those inside are holes, those by a wall are
/// to ask it.
struct LookUp {
    Box cells;
    FieldView<const double> centres;
    int dimensions;
    Work& w;
    std::vector<std::uint8_t> is_unsure;  // [cell]

    /// `map`: null where the mesh has none, as its walls are open.
    void in(const HoleMap* map, const Bounds& bounds, const Rigid& seen) {
        std::size_t n = 0;
        for_each(cells, [&](int i, int j, int k) {
            const Real3 at = seen(point_at(centres, dimensions, {i, j, k}));
            const std::size_t cell = n++;
            if (!bounds.contains(at)) return;
            const auto is = map == nullptr ? HoleMap::Cell::wall : map->at(at);
            const bool by_wall = !w.feet.empty() && w.feet[cell].reach > 0;
            if (is == HoleMap::Cell::inside && !by_wall) w.is_hole[cell] = 1;
            if (is == HoleMap::Cell::wall || (is == HoleMap::Cell::inside && by_wall)) is_unsure[cell] = 1;
        });
    }
};

void begin_work(Parts& parts, Scope& scope) {
    const Problem& p = parts.p;
    Task task = scope.task(parts.named("first work"), p.grid);
    const auto centres = p.centres(task);
    const auto nodes = p.nodes(task);
    const auto work = task.make(parts.work);
    ScalarsUse<const double> boxes;
    ScalarsUse<const std::int32_t> marked;
    if (parts.cuts > 0) boxes = task.need(parts.wall_boxes), marked = task.need(parts.marks);
    task.run([=, &p, cut = cut_of_walls(parts), cuts = parts.cuts, cutting = parts.cutting](Here& here) {
        Work& w = here[work];
        w = {};
        const Box cells = here.cells();
        const auto x = centres(here);
        const int own = p.mesh[z(p.grid.zone_of(here.patch))];
        if (p.holes)
            w.is_hole = p.holes(here.patch);
        else
            w.is_hole.assign(z(cells.volume()), 0);
        if (p.shares(own))
            w.feet = p.dimensions == 2 ? feet_of<2>(cells, p.surfaces[z(here.patch)], nodes(here), x)
                                       : feet_of<3>(cells, p.surfaces[z(here.patch)], nodes(here), x);
        if (cuts == 0) return;
        Bounds around;
        for_each(cells, [&](int i, int j, int k) { around.add(point_at(x, p.dimensions, {i, j, k})); });
        const std::vector<Bounds> bounds = bounds_of_cuts(here[boxes], cut, cuts);
        const std::vector<Rigid> seen = p.seen_by_all(own, here.step);
        LookUp look_up{cells, x, p.dimensions, w, std::vector<std::uint8_t>(w.is_hole.size(), 0)};
        for (std::size_t mesh = 0; mesh < cutting.size(); ++mesh) {
            const int c = cutting[mesh];
            if (c < 0 || static_cast<int>(mesh) == own || !bounds[z(c)].meets(moved(around, seen[mesh])))
                continue;
            std::optional<HoleMap> map;
            if (!p.open[mesh]) map = map_of(here[marked], c, p.dimensions, bounds[z(c)]);
            look_up.in(map ? &*map : nullptr, bounds[z(c)], seen[mesh]);
        }
        for (std::size_t n = 0; n < w.is_hole.size(); ++n)
            if (look_up.is_unsure[n] != 0 && w.is_hole[n] == 0)
                w.unsure.push_back(static_cast<std::int32_t>(n));
        w.rays.assign(w.unsure.size() * z(cuts), 0);
        w.near.assign(w.unsure.size() * z(cuts), 0);
        for (std::size_t n = 0; n < cut.size(); ++n) {
            if (cut[n] == cutting[z(own)]) continue;
            w.walls.push_back(
                {static_cast<std::int32_t>(n), cut[n], bounds_in(here[boxes], static_cast<std::int64_t>(n))});
        }
    });
}

/// Whether one of the rays from x may go through the box.
bool in_the_way(const Bounds& box, const Real3& x, int dimensions) {
    for (int axis = 0; axis < dimensions; ++axis) {
        bool there = true;
        for (int d = 0; d < dimensions; ++d)
            there = there && (d == axis || (x[z(d)] >= box.lo[z(d)] && x[z(d)] <= box.hi[z(d)]));
        if (there) return true;
    }
    return false;
}

void ask_walls(Parts& parts, const Requests<RayQuestion, RayAnswer>& requests, Scope& rounds,
               Scalar<double> left) {
    Task task = rounds.task(parts.named("ask walls"), parts.p.grid);
    const auto centres = parts.p.centres(task);
    const auto work = task.modify(parts.work);
    const auto count = task.contribute(left);
    task.run([=, &p = parts.p, asked = requests.ask(task), dimensions = parts.p.dimensions,
              cuts = z(parts.cuts), patches = parts.wall_patches](Here& here) {
        Work& w = here[work];
        const auto x = centres(here);
        const int own = p.mesh[z(p.grid.zone_of(here.patch))];
        const auto asks = here[asked];
        const std::vector<Rigid> seen = p.seen_by_all(own, here.step);
        w.asking.clear();
        const bool all = ask_on(w, w.walls.size(), w.unsure.size(), [&](std::size_t wall, std::size_t n) {
            const Work::Walls& to = w.walls[wall];
            const int mesh = p.mesh[z(p.grid.zone_of(patches[z(to.number)]))];
            const std::int32_t cell = w.unsure[n];
            const Real3 at = seen[z(mesh)](point_at(x, dimensions, cell_at(here.cells(), cell)));
            const bool shared = !w.feet.empty() && p.share(own, mesh);
            const Work::Foot foot = shared ? w.feet[z(cell)] : Work::Foot{};
            if (foot.reach == 0 && !in_the_way(to.box, at, dimensions)) return true;
            if (!asks.add(patches[z(to.number)], {at, foot.x, foot.reach})) return false;
            w.asking.push_back(static_cast<std::int32_t>(n * cuts + z(to.cut)));
            return true;
        });
        if (!all) here[count] = 1;
    });
}

void answer_rays(Parts& parts, const Requests<RayQuestion, RayAnswer>& requests, Scope& rounds) {
    Task task = rounds.task(parts.named("walls answer"), parts.p.grid);
    task.on(parts.wall_patches);
    const auto surface = task.need(parts.surface);
    task.run([=, asked = requests.answer(task)](Here& here) {
        here[asked].each([&](const Request<RayQuestion, RayAnswer>& request) {
            const RayQuestion& q = request.question();
            const bool shared =
                q.reach > 0 && over_shared_wall(here[surface], q.x, q.foot, q.reach).has_value();
            request.answer() = {here[surface].rays(q.x), shared ? 1U : 0U};
        });
    });
}

void take_rays(Parts& parts, const Requests<RayQuestion, RayAnswer>& requests, Scope& rounds) {
    Task task = rounds.task(parts.named("take walls"), parts.p.grid);
    const auto work = task.modify(parts.work);
    task.run([=, answers = requests.answers(task)](Here& here) {
        Work& w = here[work];
        for (std::size_t n = 0; n < w.asking.size(); ++n) {
            const RayAnswer& said = here[answers][n];
            auto& rays = w.rays[z(w.asking[n])];
            rays = static_cast<std::uint8_t>(rays ^ said.odd);
            if (said.shared != 0) w.near[z(w.asking[n])] = 1;
        }
    });
}

}  // namespace

void declare_holes(Parts& parts, const When& when) {
    Graph& graph = parts.graph;
    begin_work(parts, when.scope);
    if (parts.cuts > 0) {
        const int most = static_cast<int>(std::clamp<std::int64_t>(parts.patch_cells / 4, 64, 4096));
        const Requests<RayQuestion, RayAnswer> requests(graph, parts.named("rays"), parts.p.grid,
                                                        parts.p.grid, most);
        const auto left = graph.scalar<double>(parts.named("rays left"), Reduce::sum);
        Scope& rounds = when.scope.repeat<double>(
            parts.named("holes"), left, [](double n) { return n == 0; }, 1 << 20);
        ask_walls(parts, requests, rounds, left);
        answer_rays(parts, requests, rounds);
        take_rays(parts, requests, rounds);
    }
    Task task = when.scope.task(parts.named("holes are known"), parts.p.grid);
    const auto work = task.modify(parts.work);
    const auto holes = task.make(parts.holes);
    task.run([=, cuts = z(parts.cuts), dimensions = parts.p.dimensions](Here& here) {
        Work& w = here[work];
        for (std::size_t n = 0; n < w.unsure.size(); ++n)
            for (std::size_t c = 0; c < cuts; ++c)
                if (geometry::inside(w.rays[n * cuts + c], dimensions) && w.near[n * cuts + c] == 0)
                    w.is_hole[z(w.unsure[n])] = 1;
        std::size_t n = 0;
        for_each(here.cells(), [&](int i, int j, int k) { here[holes](i, j, k) = w.is_hole[n++]; });
        w.walls.clear(), w.unsure.clear(), w.rays.clear(), w.near.clear(), w.asking.clear();
        w.at_patch = w.at_cell = 0;
    });
}

}  // namespace strata::overset
