#include "solvers/flow/boundary/wall_distance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/graph/declare/requests.hpp"
#include "methods/geometry/sides.hpp"
#include "methods/geometry/tree.hpp"

namespace strata::flow {

using namespace graph;
using geometry::Bounds;
using geometry::point_at;

namespace {

using Walls = geometry::Tree<geometry::Facet>;

constexpr std::int64_t kRounds = 1 << 20;

struct Question {
    Real3 x;
    double bound;  // the square of the least distance so far
};

/// What a patch has found so far.
struct Found {
    struct Candidate {
        std::int32_t wall;      // number among the patches with walls
        Bounds box;             // as its mesh sees it
        std::int32_t mesh = 0;  // the number in `seen`
    };
    std::vector<Candidate> candidates;
    std::vector<geometry::Rigid> seen;  // [mesh] takes own places to where that mesh sees them
    struct Cell {
        double least = kNoWall;       // squares: the nearest wall so far,
        double asked = -1;            // and the box that was asked last; kNoWall: none is left to ask
        std::int32_t candidate = -1;  // its number
    };
    std::vector<Cell> cells;           // x fastest
    std::size_t first = 0;             // cell that may have something to ask
    std::vector<std::int32_t> asking;  // the cell of each request
};

/// The box that a cell asks next: boxes in the order of their distances, then of their numbers. None: no
/// further box is nearer than the nearest wall.
int next_of(const Found& found, const Found::Cell& cell, const Real3& x, double& distance) {
    int next = -1;
    distance = cell.least;
    for (int c = 0; c < static_cast<int>(found.candidates.size()); ++c) {
        const Found::Candidate& candidate = found.candidates[static_cast<std::size_t>(c)];
        const Real3 at = found.seen[static_cast<std::size_t>(candidate.mesh)](x);
        const double d = candidate.box.squared_distance(at);
        if (d < distance && (d > cell.asked || (d == cell.asked && c > cell.candidate)))
            next = c, distance = d;
    }
    return next;
}

/// Of all boxes those that may have a point nearest to one of the centres, which have walls at `bound`
/// already (a square).
void choose(Found& found, std::vector<Found::Candidate> all, const Bounds& own, double bound) {
    std::vector<Bounds> seen;  // the box of the centres, by mesh
    for (const geometry::Rigid& by : found.seen) seen.push_back(moved(own, by));
    const auto largest =
        [&](const Found::Candidate& of) {  // the most that a centre may be away from any of its points
            const Bounds &wall = of.box, &centres = seen[static_cast<std::size_t>(of.mesh)];
            double sum = 0;
            for (std::size_t d = 0; d < 3; ++d) {
                const double far = std::max(wall.hi[d] - centres.lo[d], centres.hi[d] - wall.lo[d]);
                sum += far * far;
            }
            return sum;
        };
    for (const auto& candidate : all) bound = std::min(bound, largest(candidate));
    for (const auto& candidate : all)
        if (candidate.box.squared_distance(seen[static_cast<std::size_t>(candidate.mesh)]) <= bound)
            found.candidates.push_back(candidate);
}

struct Search {
    Graph& graph;
    const WallSearch& s;
    std::vector<int> patches;  // with walls
    Object<Walls> tree;
    Scalars<double> boxes;
    int most;  // requests of a patch in a round
};

/// Of one of the searches: all walls, or those of the own mesh, at the start; those of other meshes, at the
/// start and in each step.
struct Pass {
    Scope& scope;
    std::string name;
    std::optional<Field<double>> own;  // the distance to walls of the own mesh, where the others are asked
    Object<Found> found;
    Scalar<double> left;
    Requests<Question, double> asks;

    Pass(const Search& search, Scope& in, const std::string& what)
        : scope(in),
          name(search.s.name + what),
          found(search.graph.object<Found>(name + ", found", search.s.grid)),
          left(search.graph.scalar<double>(name + ", left", Reduce::sum)),
          asks(search.graph, name + ", requests", search.s.grid, search.s.grid, search.most) {}
};

void make_trees(Search& search) {
    Task task = search.graph.start().task(search.s.name + ", walls", search.s.grid);
    task.on(search.patches);
    const auto nodes = search.s.nodes(task);
    const auto tree = task.make(search.tree);
    const auto boxes = task.contribute(search.boxes);
    task.run([=, dimensions = search.s.dimensions, walls = search.s.walls,
              patches = search.patches](Here& here) {
        std::vector<geometry::Facet> facets;
        const auto x = nodes(here);
        for (const Face& face : walls[static_cast<std::size_t>(here.patch)])
            geometry::add_side(dimensions, here.cells(), face, x, geometry::Diagonal::shorter, facets);
        here[tree] = Walls(std::move(facets));
        here[boxes].resize(static_cast<std::int64_t>(6 * patches.size()));
        const auto number = std::lower_bound(patches.begin(), patches.end(), here.patch) - patches.begin();
        geometry::put_bounds(here[boxes], number, here[tree].bounds());
    });
}

void begin(const Search& search, const Pass& pass) {
    Task task = pass.scope.task(pass.name + ", first", search.s.grid);
    const auto centres = task.need(search.s.centres);
    const auto boxes = task.need(search.boxes);
    const auto found = task.make(pass.found);
    const bool others = pass.own.has_value();
    FieldUse<const double> own;
    if (others) own = task.need(*pass.own);
    task.run([=, dimensions = search.s.dimensions, patches = search.patches, group = search.s.group,
              seen = search.s.seen](Here& here) {
        Found& all = here[found];
        all = {};
        all.cells.resize(static_cast<std::size_t>(here.cells().volume()));
        const auto mesh_of = [&](int patch) {
            return group.empty() ? 0 : group[static_cast<std::size_t>(patch)];
        };
        const int mesh = mesh_of(here.patch);
        const int meshes = group.empty() ? 1 : 1 + *std::max_element(group.begin(), group.end());
        for (int by = 0; by < meshes; ++by)
            all.seen.push_back(others ? seen(mesh, by, here.step) : geometry::Rigid{});
        std::vector<Found::Candidate> candidates;
        for (std::size_t w = 0; w < patches.size(); ++w) {
            const int of = mesh_of(patches[w]);
            if ((of == mesh) == others) continue;
            const auto number = static_cast<std::int32_t>(w);
            candidates.push_back({number, geometry::bounds_in(here[boxes], number), of});
        }
        Bounds around;
        double bound = others ? 0 : kNoWall;
        std::size_t cell = 0;
        for_each(here.cells(), [&](int i, int j, int k) {
            around.add(point_at(here[centres], dimensions, {i, j, k}));
            if (!others) return;
            const double wall = here[own](i, j, k), least = wall < kNoWall ? wall * wall : kNoWall;
            all.cells[cell++].least = least, bound = std::max(bound, least);
        });
        choose(all, std::move(candidates), around, bound);
    });
}

void ask(const Search& search, const Pass& pass, Scope& rounds) {
    Task task = rounds.task(pass.name + ", ask", search.s.grid);
    const auto centres = task.need(search.s.centres);
    const auto found = task.modify(pass.found);
    const auto left = task.contribute(pass.left);
    task.run([=, asked = pass.asks.ask(task), dimensions = search.s.dimensions, patches = search.patches,
              most = static_cast<std::size_t>(search.most)](Here& here) {
        Found& all = here[found];
        struct Asked {
            std::int32_t target, cell;
            double distance;
        };
        std::vector<Asked> questions;
        const Box own = here.cells();
        const auto place = [&](std::int32_t cell) {
            const Int3 at{own.lo[0] + cell % own.extent(0), own.lo[1] + cell / own.extent(0) % own.extent(1),
                          own.lo[2] + cell / (own.extent(0) * own.extent(1))};
            return point_at(here[centres], dimensions, at);
        };
        while (all.first < all.cells.size() && all.cells[all.first].asked == kNoWall) ++all.first;
        for (std::size_t n = all.first; n < all.cells.size() && questions.size() < most; ++n) {
            if (all.cells[n].asked == kNoWall) continue;
            const auto cell = static_cast<std::int32_t>(n);
            double distance;
            const int next = next_of(all, all.cells[n], place(cell), distance);
            if (next < 0)
                all.cells[n].asked = kNoWall;
            else
                questions.push_back({next, cell, distance});
        }
        std::stable_sort(questions.begin(), questions.end(),
                         [](const Asked& a, const Asked& b) { return a.target < b.target; });
        all.asking.clear();
        for (const Asked& question : questions) {
            auto& cell = all.cells[static_cast<std::size_t>(question.cell)];
            cell.asked = question.distance, cell.candidate = question.target;
            const Found::Candidate& of = all.candidates[static_cast<std::size_t>(question.target)];
            const Real3 at = all.seen[static_cast<std::size_t>(of.mesh)](place(question.cell));
            here[asked].add(patches[static_cast<std::size_t>(of.wall)], {at, cell.least});
            all.asking.push_back(question.cell);
        }
        here[left] = static_cast<double>(questions.size());
    });
}

void answer(const Search& search, const Pass& pass, Scope& rounds) {
    Task task = rounds.task(pass.name + ", answer", search.s.grid);
    task.on(search.patches);
    const auto tree = task.need(search.tree);
    task.run([=, requests = pass.asks.answer(task)](Here& here) {
        for (const auto& request : here[requests])
            request.answer() = here[tree].nearest(request.question().x, request.question().bound);
    });
}

void take(const Search& search, const Pass& pass, Scope& rounds) {
    Task task = rounds.task(pass.name + ", take", search.s.grid);
    const auto found = task.modify(pass.found);
    task.run([=, answers = pass.asks.answers(task)](Here& here) {
        Found& all = here[found];
        for (std::size_t i = 0; i < all.asking.size(); ++i)
            all.cells[static_cast<std::size_t>(all.asking[i])].least = here[answers][i];
    });
}

/// Makes the distance.
void look(const Search& search, const Pass& pass, Field<double> made) {
    begin(search, pass);
    Scope& rounds = pass.scope.repeat<double>(
        pass.name, pass.left, [](double left) { return left == 0; }, kRounds);
    ask(search, pass, rounds);
    answer(search, pass, rounds);
    take(search, pass, rounds);

    Task task = pass.scope.task(pass.name + ", last", search.s.grid);
    const auto found = task.modify(pass.found);
    const auto distance = task.make(made);
    task.run([=, none = search.s.none](Here& here) {
        std::size_t cell = 0;
        for_each(here.cells(), [&](int i, int j, int k) {
            const double least = here[found].cells[cell++].least;
            here[distance](i, j, k) = least < kNoWall ? std::sqrt(least) : none;
        });
        here[found] = {};
    });
}

}  // namespace

void declare_wall_distance(Graph& graph, const WallSearch& s) {
    std::vector<int> patches;
    for (std::size_t p = 0; p < s.walls.size(); ++p)
        if (!s.walls[p].empty()) patches.push_back(static_cast<int>(p));
    if (patches.empty()) {
        Task task = graph.start().task(s.name, s.grid);
        task.run([to = task.make(s.distance), none = s.none](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) { here[to](i, j, k) = none; });
        });
        return;
    }
    // A quarter of a patch's cells: the room for requests is a tenth of that for a flow field.
    std::int64_t cells = 0;
    for (int p = 0; p < s.grid.patches(); ++p) cells = std::max(cells, s.grid.box(p).volume());
    const int most = static_cast<int>(std::clamp<std::int64_t>(cells / 4, 16, 4096));
    Search search{
        graph,
        s,
        patches,
        graph.object<Walls>(s.name + ", tree", s.grid,
                            {.bytes = [](const Walls& tree) { return tree.bytes(); }}),
        graph.scalars<double>(s.name + ", boxes", Reduce::min, static_cast<int>(6 * patches.size())),
        most};
    make_trees(search);
    if (!s.seen) return look(search, {search, graph.start(), ""}, s.distance);
    const auto own = graph.field<double>(s.name + " in meshes", s.grid, On::cells, {.kept = true});
    look(search, {search, graph.start(), " in meshes"}, own);
    for (const bool in_step : {false, true}) {
        Pass others(search, in_step ? graph.step() : graph.start(), in_step ? ", in a step" : "");
        others.own = own;
        look(search, others, s.distance);
    }
}

}  // namespace strata::flow
