// Averaged flow on meshes that move against each other: the distance to walls of all of them, variables of
// the model in cells that come out of holes, and the same flow seen from elsewhere.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "methods/geometry/facet.hpp"
#include "solvers/flow/geometry.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/flow/flow_runs.hpp"

using namespace strata;
using namespace strata::flow;

namespace {

constexpr int kAround = 32;

/// Two cylinders, each in a ring of its own, over a square: both move.
Settings two_cylinders(const std::string& model) {
    Settings s;
    GridKeys& box = s.meshes["box"].grid;
    box.section = "mesh.box";
    box.kind = "brick", box.cells = {60, 60}, box.low = {-5, -5}, box.high = {5, 5}, box.patch = {20, 20};
    for (const char* name : {"first", "second"}) {
        GridKeys& ring = s.meshes[name].grid;
        ring.section = std::string("mesh.") + name;
        ring.kind = "cylinder", ring.cells = {kAround, 14}, ring.patch = {16, 14};
        ring.first = 0.04, ring.farfield = 1.6;
        s.boundaries[std::string(name) + "-wall"].kind = "wall";
        s.boundaries[std::string(name) + "-farfield"].kind = "overset";
    }
    s.meshes["first"].grid.motion.kind = "path";
    s.meshes["first"].grid.motion.velocity = {0.05, 0.01};
    MotionKeys& second = s.meshes["second"].grid.motion;  // from (-2.6, 0) on
    second.kind = "pitch", second.mean = 180, second.amplitude = 20, second.frequency = 0.2;
    second.centre = {-1.3, 0};
    tests::all_sides(s, "box-", 2, "far-field");
    s.flow.equations = "rans", s.flow.model = model, s.flow.mach = 0.2, s.flow.reynolds = 1e4;
    s.time.kind = "unsteady", s.time.step = 1, s.time.end = 1000;
    s.time.cfl = s.time.cfl_start = 20, s.time.subiterations = 6, s.time.implicit = "lu-sgs";
    return s;
}

/// A point of a polygon's corners as the generator has them: of radius 1/2, the first on the x axis.
double to_polygon(const geometry::Rigid& placed, const graph::Real3& x) {
    double least = std::numeric_limits<double>::infinity();
    const auto corner = [&](int n) {
        const double angle = 2 * std::numbers::pi * n / kAround;
        return placed({0.5 * std::cos(angle), 0.5 * std::sin(angle), 0});
    };
    for (int n = 0; n < kAround; ++n) {
        const graph::Real3 a = corner(n), b = corner(n + 1);
        least = std::min(least, geometry::squared_distance(x, {a, b, b}));
    }
    return std::sqrt(least);
}

/// The largest difference of distances from those to both polygons where they are; and how many cells come
/// out of holes with the first value of the model's first variable, which no solution has.
struct Looked {
    double off = 0, near_other = 0, still_first = 0, uncovered = 0;
};
Looked look(const Settings& s, std::int64_t steps) {
    using Found = std::array<double, 4>;
    graph::Scalar<Found> most;
    Looked looked;
    (void)tests::run_flow(
        s, steps,
        {.declare =
             [&](graph::Graph& graph, const Flow& flow) {
                 const Labels& l = flow.finest();
                 most = graph.scalar<Found>("looked at", graph::Reduce::max, 0.0);
                 graph::Task task = graph.step().task("look", flow.grid().zones());
                 const auto geometry = task.need(l.moved);
                 const auto distance = task.need(l.distance);
                 const auto nu = task.need(l.nu_tilde.at(1));
                 const auto was = task.need(l.overset->status().previous()),
                            is = task.need(l.overset->status());
                 const auto to = task.contribute(most);
                 task.run(
                     [=, &grid = flow.grid(), far = s.far_field(2),
                      first = s.scheme().is_sst() ? s.far_field(2).k : s.flow.nu_tilde](graph::Here& here) {
                         const auto centres = PatchGeometry<2>(here.cells()).centres(here[geometry]);
                         const int mesh = grid.mesh_of(grid.zones().zone_of(here.patch));
                         Found& all = here[to];
                         all = {};
                         graph::for_each(here.cells(), [&](int i, int j, int k) {
                             const graph::Real3 x{centres(i, j, k, 0), centres(i, j, k, 1), 0};
                             std::array<double, 3> each{};
                             for (const int m : {1, 2})
                                 each[static_cast<std::size_t>(m)] =
                                     to_polygon(grid.motions().placed(m, here.step), x);
                             const double least = std::min(each[1], each[2]);
                             all[0] = std::max(all[0], std::abs(here[distance](i, j, k) - least));
                             if (mesh > 0 && least < each[static_cast<std::size_t>(mesh)]) all[1] = 1;
                         });
                         overset::for_each_uncovered(here.cells(), here[was], here[is],
                                                     [&](const graph::Int3& at) {
                                                         all[3] = 1;
                                                         if (here[nu](at[0], at[1], at[2], 0) == first)
                                                             all[2] = 1;
                                                     });
                     });
             },
         .end =
             [&](const graph::Simulation& run) {
                 const Found all = run.value(most);
                 looked = {all[0], all[1], all[2], all[3]};
             }});
    return looked;
}

}  // namespace

TEST_CASE("distances to walls of meshes that move are those to all walls where they are") {
    const Looked looked = look(two_cylinders("sa"), 3);
    CHECK(looked.off < 1e-13);
    CHECK(looked.near_other == 1);  // a ring reaches to where the other cylinder is nearer
}

TEST_CASE("the model's variables in cells that come out of holes are those of their donors") {
    for (const std::string model : {"sa", "sst"}) {
        CAPTURE(model);
        const Looked looked = look(two_cylinders(model), 4);
        CHECK(looked.uncovered == 1);
        CHECK(looked.still_first == 0);
    }
}

TEST_CASE("averaged flow is the same on meshes that are turned and in a stream that is turned back") {
    for (const std::string model : {"sa", "sst"}) {
        const auto drag = [&](double alpha, double turned) {
            Settings s = two_cylinders(model);
            s.meshes.erase("second");
            s.boundaries.erase("second-wall"), s.boundaries.erase("second-farfield");
            s.flow.alpha = alpha;
            for (auto& [name, mesh] : s.meshes) {
                mesh.grid.motion = {};
                if (turned != 0)
                    mesh.grid.motion.kind = "pitch", mesh.grid.motion.mean = turned,
                    mesh.grid.motion.frequency = 1;
            }
            s.time.drop = 0;
            return tests::run_flow(s, 3).drag;
        };
        const double stream = drag(-60, 0), grid = drag(0, 60);
        CAPTURE(model, stream, grid);
        CHECK(stream > 0.01);
        CHECK(std::abs(grid / stream - 1) < 1e-8);
    }
}
