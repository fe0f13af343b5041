// Walls of the flow solver: distance to them, forces on them, their files; and values at points.
#include <stdlib.h>

#include <cmath>
#include <sstream>
#include <string>

#include "core/graph/simulation/simulation.hpp"
#include "methods/geometry/sides.hpp"
#include "methods/geometry/tree.hpp"
#include "solvers/flow/exact.hpp"
#include "solvers/flow/output/cells.hpp"
#include "solvers/flow/output/walls.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/declared.hpp"
#include "tests/graph/temporary.hpp"
#include "tests/solvers/flow/flow_patch.hpp"
#include "tests/solvers/flow/flow_ring.hpp"
#include "tests/solvers/program_runs.hpp"

using namespace strata::tests;
using namespace strata::flow;
using strata::geometry::Facet;
using strata::graph::Members;
using strata::graph::Simulation;

namespace {

double brute(const Real3& x, const std::vector<Facet>& facets) {
    double least = kNoWall;
    for (const Facet& facet : facets) least = std::min(least, strata::geometry::squared_distance(x, facet));
    return least;
}

void add_wall(int dimensions, const Box& cells, const Face& face, const FieldView<const double>& nodes,
              std::vector<Facet>& facets) {
    strata::geometry::add_side(dimensions, cells, face, nodes, strata::geometry::Diagonal::shorter, facets);
}

/// The wall distance of all cells, by the number of the cell in the whole ring.
template <int Dim>
std::vector<double> distances(int patch_cells, int threads, std::uint64_t seed) {
    Ring<Dim> ring(patch_cells);
    ring.declare_geometry();
    ring.declare_distance();
    constexpr int out = Ring<Dim>::kOut;
    std::vector<double> all(static_cast<std::size_t>(Ring<Dim>::kAround * out * Ring<Dim>::kDeep), -1);
    Task task = ring.graph.step().task("look", ring.zones);
    task.run([&, from = task.need(ring.distance)](Here& here) {
        const int zone = ring.zones.zone_of(here.patch);
        for_each(here.cells(), [&](int i, int j, int k) {
            const int a = zone == 0 ? i : Ring<Dim>::kAround - 1 - j, r = zone == 0 ? j : i;
            all[static_cast<std::size_t>((k * out + r) * Ring<Dim>::kAround + a)] = here[from](i, j, k);
        });
    });
    Simulation run(ring.graph, Members::alone(), {.threads = threads, .shuffle = {.seed = seed}});
    run.start();
    run.advance(1);
    return all;
}

/// All wall elements, as one zone would have them.
template <int Dim>
std::vector<Facet> ring_walls() {
    std::vector<Facet> all;
    for (const int zone : {0, 1}) {
        const Box cells =
            zone == 0 ? Box{{0, 0, 0}, {16, 4, Ring<Dim>::kDeep}} : Box{{0, 0, 0}, {4, 8, Ring<Dim>::kDeep}};
        TestPatch<Dim> whole(cells, [&](double i, double j, double k) {
            return Ring<Dim>::node(zone, {int(i), int(j), int(k)});
        });
        add_wall(Dim, cells, {zone == 0 ? 1 : 0, false}, whole.x.seen(), all);
    }
    return all;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG(
    "across joined zones the wall distance is that to the nearest of all walls, on all layouts", "",
    ((int Dim), Dim), 2, 3) {
    const auto elements = ring_walls<Dim>();
    const auto found = distances<Dim>(4, 1, 0);
    std::size_t cell = 0;
    for (int k = 0; k < Ring<Dim>::kDeep; ++k)
        for (int r = 0; r < Ring<Dim>::kOut; ++r)
            for (int a = 0; a < Ring<Dim>::kAround; ++a) {
                Real3 centre{};
                for (int n = 0; n < 8; ++n) {
                    const Real3 corner =
                        Ring<Dim>::place(a + (n & 1), r + (n >> 1 & 1), Dim == 3 ? k + (n >> 2) : k);
                    for (std::size_t d = 0; d < Dim; ++d) centre[d] += corner[d] / 8;
                }
                CAPTURE(a, r, k);
                CHECK(found[cell++] == Approx(std::sqrt(brute(centre, elements))).epsilon(1e-13));
            }
    for (const int threads : {1, 3})
        for (const int patch_cells : {2, 3, 16}) CHECK(distances<Dim>(patch_cells, threads, 5) == found);
}

TEST_CASE("thin cells on faces whose corners lie in no plane are as far from them as they are high") {
    // As at a tip that is rounded off: 1e-5 high on a face that is warped by 0.3.
    for (const double warp : {0.3, -0.3}) {
        const Box cells{{0, 0, 0}, {3, 1, 2}};
        TestPatch<3> patch(cells, [&](double i, double j, double k) {
            return Real3{i, warp * i * k + 1e-5 * j, k};
        });
        std::vector<Facet> elements;
        add_wall(3, cells, {1, false}, patch.x.seen(), elements);
        const strata::geometry::Tree tree(elements);
        for_each(cells, [&](int i, int j, int k) {
            const double slope = 0.3 * std::hypot(i + 0.5, k + 0.5);
            const double away = std::sqrt(tree.nearest(patch.centre({i, j, k})));
            CAPTURE(warp, i, k, away);
            CHECK(away < 0.5e-5);
            CHECK(away > 0.8 * 0.5e-5 / std::hypot(1, slope));
        });
    }
    // In a plane, also slanted: two triangles.
    const Box cells{{0, 0, 0}, {2, 1, 2}};
    TestPatch<3> plane(cells, [](double i, double j, double k) {
        return Real3{i, 0.3 * i + 0.7 * k + j, k + 0.1 * i};
    });
    std::vector<Facet> elements;
    add_wall(3, cells, {1, false}, plane.x.seen(), elements);
    CHECK(elements.size() == 8);
}

TEST_CASE("without a wall the distance to it is infinite") {
    Ring<2> ring(4);
    ring.declare_geometry();
    declare_wall_distance(ring.graph,
                          {.grid = ring.zones,
                           .dimensions = 2,
                           .walls = std::vector<std::vector<Face>>(std::size_t(ring.zones.patches())),
                           .nodes = ring.nodes_of(),
                           .centres = ring.centres,
                           .distance = ring.distance});
    Task task = ring.graph.step().task("look", ring.zones);
    int cells = 0;
    task.run([&, from = task.need(ring.distance)](Here& here) {
        for_each(here.cells(), [&](int i, int j, int k) { cells += here[from](i, j, k) == kNoWall ? 1 : 0; });
    });
    Simulation run(ring.graph, Members::alone());
    run.start();
    run.advance(1);
    CHECK(cells == 96);
}

namespace {

/// The sums over the body of a ring in a flow.
template <int Dim>
WallSums ring_sums(const std::function<FlowState(const Real3&)>& value, bool slip) {
    Ring<Dim> ring(3);
    if (slip) ring.body.condition = Condition::slip_wall;
    ring.declare_geometry();
    ring.declare_flow(value);
    const auto sums = ring.graph.template scalar<WallSums>("sums", strata::graph::Reduce::sum);
    Task task = ring.graph.step().task("add", ring.zones);
    task.run([&ring, x = ring.nodes_of()(task),
              q = task.need(ring.q, strata::graph::ghosts(1).without_corners()),
              centres = task.need(ring.centres, strata::graph::ghosts(1).without_corners()),
              to = task.contribute(sums)](Here& here) {
        WallExtremes extremes{};
        for (const auto& one : PatchBoundaries(here.cells(), ring.on(here.patch), Dim))
            if (one.boundary == &ring.body)
                wall_points<Dim>(
                    {.mach = 0.3, .reynolds = 100}, ring.body, {}, one.face, x(here), here[q], here[centres],
                    [&](const WallPoint& point) { add_point(point, 1, false, here[to], extremes); });
    });
    Simulation run(ring.graph, Members::alone());
    run.start();
    run.advance(1);
    return run.value(sums);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("a uniform pressure pushes a closed body nowhere", "", ((int Dim), Dim), 2, 3) {
    const WallSums sums = ring_sums<Dim>([](const Real3&) { return FlowState{.p = 1.7}; }, true);
    // In three dimensions its ends are open: nothing pushes there along z.
    for (const std::size_t c : {0, 1}) CHECK(std::abs(sums[c]) < 1e-12);
    for (std::size_t c = 3; c < 6; ++c) CHECK(sums[c] == 0);
    CHECK(std::abs(sums[8]) < 1e-12);
}

TEST_CASE("a pressure that grows along a line lifts a body by its volume") {
    // By Gauss: the sum of p S over a polygon is its area times the gradient.
    double area = 0;
    for (int a = 0; a < 24; ++a) {
        const Real3 p = Ring<2>::place(a + 1, 0, 0), r = Ring<2>::place(a, 0, 0);
        area += 0.5 * (p[0] * r[1] - p[1] * r[0]);
    }
    REQUIRE(area > 1);
    const WallSums sums =
        ring_sums<2>([](const Real3& x) { return FlowState{.p = 2 + 0.3 * x[0] - 0.2 * x[1]}; }, true);
    CHECK(sums[0] == Approx(-0.3 * area).epsilon(1e-12));  // into the body, against the gradient
    CHECK(sums[1] == Approx(0.2 * area).epsilon(1e-12));

    // A brick that leans, whose six sides are those of six patches around it.
    const auto place = [](double i, double j, double k) {
        return Real3{0.5 * i + 0.1 * j, 0.4 * j - 0.05 * k, 0.3 * k + 0.1 * i};
    };
    const Real3 gradient{0.3, -0.2, 0.4};
    WallSums all{};
    WallExtremes extremes{};
    const Boundary wall{.condition = Condition::slip_wall};
    for (int axis = 0; axis < 3; ++axis)
        for (const bool upper : {false, true}) {  // cells 0 to 3 are the brick, the patch lies beside it
            Box cells{{0, 0, 0}, {4, 4, 4}};
            const auto a = static_cast<std::size_t>(axis);
            cells.lo[a] = upper ? 4 : -4, cells.hi[a] = cells.lo[a] + 4;
            TestPatch<3> patch(cells, place);
            const PatchFace face(cells, {axis, !upper});
            patch.set(cells, [&](const Real3& x) {
                return FlowState{.p = 2 + gradient[0] * x[0] + gradient[1] * x[1] + gradient[2] * x[2]};
            });
            patch.fill(wall, face);
            wall_points<3>({}, wall, {}, face, patch.x.seen(), patch.flow_seen(face), patch.centres.seen(),
                           [&](const WallPoint& point) { add_point(point, 0.5, false, all, extremes); });
        }
    const double volume = 64 * (0.5 * (0.4 * 0.3) - 0.1 * (0 - -0.05 * 0.1));  // determinant of its edges
    for (std::size_t d = 0; d < 3; ++d) CHECK(all[d] == Approx(-gradient[d] * volume).epsilon(1e-12));
}

TEMPLATE_TEST_CASE_SIG("the pressure on walls is that of the gradient in each cell alone, bit for bit", "",
                       ((int Dim), Dim), 2, 3) {
    // More columns than eight along each axis, of a wavy grid.
    TestPatch<Dim> patch(Box{{0, 0, 0}, {11, 10, Dim == 3 ? 9 : 1}}, [](double i, double j, double k) {
        return Real3{0.5 * i + 0.1 * j + 0.05 * std::sin(k), 0.4 * j + 0.03 * std::sin(i),
                     0.3 * k + 0.02 * i};
    });
    const Boundary wall{.condition = Condition::slip_wall};
    for (int axis = 0; axis < Dim; ++axis)
        for (const bool upper : {false, true}) {
            const PatchFace face(patch.cells, {axis, upper});
            patch.set(patch.cells, [](const Real3& x) {
                return FlowState{
                    .rho = 1 + 0.1 * std::sin(x[0]), .u = {0.3, 0.2, 0}, .p = 2 + std::cos(x[1])};
            });
            patch.fill(wall, face);
            const FieldView<const double> centres = patch.centres.seen(), q = patch.flow_seen(face);
            int found = 0;
            wall_points<Dim>({}, wall, {}, face, patch.x.seen(), q, centres, [&](const WallPoint& point) {
                const Int3& cell = point.cell;
                const auto pressure = [&](const Int3& at) { return patch.state(at).p; };
                const Real3 g = CellDifferences<Dim>(centres, patch.cells, cell).gradient(pressure);
                double ahead = 0;
                for (std::size_t d = 0; d < Dim; ++d)
                    ahead +=
                        (point.centre[d] - centres(cell[0], cell[1], cell[2], static_cast<int>(d))) * g[d];
                found += point.pressure == pressure(cell) + ahead ? 1 : 0;
            });
            CAPTURE(Dim, axis, upper);
            CHECK(found == face.first().volume());
        }
}

TEMPLATE_TEST_CASE_SIG("a wall feels the shear of the flow beside it, and y+ follows", "", ((int Dim), Dim),
                       2, 3) {
    // u = 2 s along the wall, s from the wall: exact for differences across it, on a wall that leans.
    const double slope = 0.3, length = std::sqrt(1 + slope * slope);
    const Real3 along{1 / length, slope / length, 0}, normal{-slope / length, 1 / length, 0};
    TestPatch<Dim> patch(Box{{0, 0, 0}, {5, 4, Dim == 3 ? 3 : 1}}, [&](double i, double j, double k) {
        return Real3{i * along[0] + 0.1 * j * normal[0], i * along[1] + 0.1 * j * normal[1],
                     Dim == 3 ? k : 0};
    });
    patch.set(patch.cells, [&](const Real3& x) {
        const double s = normal[0] * x[0] + normal[1] * x[1];
        return FlowState{.rho = 0.8, .u = {2 * s * along[0], 2 * s * along[1], 0}, .p = 0.8 * 1.1 / 1.4};
    });
    Boundary wall{.condition = Condition::wall};
    const PatchFace face(patch.cells, {1, false});
    patch.fill(wall, face);
    const Gas gas{.mach = 0.2, .reynolds = 50, .sutherland = 0.4};
    const double mu = 0.2 / 50 * std::pow(1.1, 1.5) * 1.4 / (1.1 + 0.4);
    WallSums sums{};
    WallExtremes extremes{-kNoWall, -kNoWall};
    int faces = 0;
    wall_points<Dim>(gas, wall, {}, face, patch.x.seen(), patch.flow_seen(face), patch.centres.seen(),
                     [&](const WallPoint& point) {
                         ++faces;
                         for (std::size_t d = 0; d < 3; ++d)
                             CHECK(point.stress[d] == Approx(mu * 2 * along[d]).epsilon(1e-12).margin(1e-15));
                         CHECK(point.temperature == Approx(1.1).epsilon(1e-12));
                         const double friction = std::sqrt(2 * mu / point.density);
                         CHECK(point.y_plus == Approx(point.density * friction * 0.05 / mu).epsilon(1e-12));
                         add_point(point, 0, false, sums, extremes);
                     });
    CHECK(faces == 5 * (Dim == 3 ? 3 : 1));
    const double area = faces;
    for (std::size_t d = 0; d < 3; ++d) CHECK(sums[3 + d] == Approx(area * mu * 2 * along[d]).margin(1e-14));
    const YPlus y = y_plus(sums, extremes);
    CHECK(y.least == Approx(y.largest).epsilon(1e-12));
    CHECK(y.mean == Approx(y.largest).epsilon(1e-12));
    CHECK(y_plus({}, {-kNoWall, -kNoWall}).largest == 0);
    SECTION("a wall that moves with the flow feels nothing") {
        wall.motion.velocity = {2 * 0.05 * along[0], 2 * 0.05 * along[1], 0};
        wall_points<Dim>(gas, wall, {}, face, patch.x.seen(), patch.flow_seen(face), patch.centres.seen(),
                         [](const WallPoint& point) {
                             for (const double s : point.stress) CHECK(std::abs(s) < 1e-15);
                         });
    }
}

TEST_CASE("lift, drag and moments follow the angles and the reference") {
    Reference reference{
        .mach = 0.5, .area = 2, .length = 4, .span = 8, .centre = {1, 2, 3}, .alpha = 30, .up = 2};
    const auto close = [](const Real3& a, const Real3& b) {
        for (std::size_t d = 0; d < 3; ++d) CHECK(a[d] == Approx(b[d]).margin(1e-15));
    };
    const double c = std::sqrt(0.75);
    close(reference.stream(), {c, 0, 0.5});
    close(reference.lift(), {-0.5, 0, c});
    close(reference.side(), {0, 1, 0});
    reference.beta = 90;
    close(reference.stream(), {0, -1, 0});  // the wind comes from starboard
    reference.beta = 0;
    Reference flat{.alpha = 30};  // two dimensions
    close(flat.stream(), {c, 0.5, 0});
    close(flat.lift(), {-0.5, c, 0});

    // A pressure of 3 on a square of 1 at (2, 2, 3) that faces down: it lifts, behind the centre, so the nose
    // sinks.
    WallSums sums{};
    WallExtremes extremes{};
    WallPoint point;
    point.centre = {2, 2, 3}, point.area = {0, 0, 1}, point.pressure = 5;
    add_point(point, 2, false, sums, extremes);
    point.viscous = true, point.pressure = 2, point.stress = {0.5, 0, 0}, point.y_plus = 2;
    add_point(point, 2, false, sums, extremes);
    const Coefficients all = coefficients(sums, reference);
    const double dynamic = 0.5 * 0.25 * 2;
    CHECK(all.pressure.lift == Approx(3 * c / dynamic));
    CHECK(all.pressure.drag == Approx(3 * 0.5 / dynamic));
    CHECK(all.friction.drag == Approx(0.5 * c / dynamic));
    CHECK(all.all.drag == Approx(all.pressure.drag + all.friction.drag));
    CHECK(all.pressure.pitch == Approx(-3 * 1 / dynamic / 4));
    CHECK(all.friction.pitch == Approx(0).margin(1e-14));
    // The same force to starboard of the centre: that wing goes up.
    sums = {};
    point = {};
    point.centre = {1, 4, 3}, point.area = {0, 0, 1}, point.pressure = 5;
    add_point(point, 2, false, sums, extremes);
    CHECK(coefficients(sums, reference).all.roll == Approx(-3 * 2 / dynamic / 8));
    // Dragged there: the nose turns to it.
    sums = {};
    point.viscous = true, point.pressure = 2, point.stress = {1, 0, 0};
    add_point(point, 2, false, sums, extremes);
    CHECK(coefficients(sums, reference).all.yaw == Approx(2 / dynamic / 8));
}

TEST_CASE("forces on a body of revolution are those of whole rings") {
    // A cone of radius 1 and height 2 with pressure 1 above the far one: pi r^2 along the axis.
    TestPatch<2> patch(Box{{0, 0, 0}, {8, 2, 1}}, [](double i, double j, double) {
        return Real3{i / 4, i / 8 + 0.1 * j, 0};
    });
    patch.set(patch.cells, [](const Real3&) { return FlowState{.p = 2}; });
    const Boundary wall{.condition = Condition::slip_wall};
    const PatchFace face(patch.cells, {1, false});
    patch.fill(wall, face);
    WallSums sums{};
    WallExtremes extremes{};
    wall_points<2>({}, wall, {}, face, patch.x.seen(), patch.flow_seen(face), patch.centres.seen(),
                   [&](const WallPoint& point) { add_point(point, 1, true, sums, extremes); });
    CHECK(sums[0] == Approx(std::numbers::pi).epsilon(1e-13));
    CHECK(sums[1] == 0);
}

TEMPLATE_TEST_CASE_SIG("vorticity and Q of linear flows are exact on any grid", "", ((int Dim), Dim), 2, 3) {
    TestPatch<Dim> patch(Box{{0, 0, 0}, {6, 5, Dim == 3 ? 4 : 1}}, [](double i, double j, double k) {
        return Real3{i + 0.2 * std::sin(j + k), 0.8 * j + 0.1 * std::cos(i),
                     Dim == 3 ? k + 0.1 * std::sin(i * j) : 0};
    });
    const bool with_hole = GENERATE(false, true);
    const auto check = [&](const std::array<Real3, 3>& g, const Real3& vorticity, double q) {
        patch.set(patch.cells, [&](const Real3& x) {
            FlowState s{.rho = 1 + 0.1 * x[0]};
            for (std::size_t a = 0; a < Dim; ++a)
                for (std::size_t b = 0; b < Dim; ++b) s.u[a] += g[a][b] * x[b];
            return s;
        });
        Stored w(patch.cells, 3, 0), criterion(patch.cells, 1, 0);
        Stored centres(patch.cells, Dim, 0);  // without borders: differences are one-sided at the ends
        strata::flow::centres<Dim>(patch.cells, patch.x.seen(), centres.view());
        // A hole has no part in differences.
        const auto is_known = [&](const Int3& cell) { return cell[0] > 2 || cell[1] > 1; };
        strata::graph::for_each(patch.cells, [&](int i, int j, int k) {
            if (with_hole && !is_known({i, j, k})) patch.q.view()(i, j, k, 1) = 1e3 * (1 + i - j);
        });
        if (with_hole)
            vortices<Dim>(patch.cells, patch.q.seen(), centres.seen(), w.view(), criterion.view(), is_known);
        else
            vortices<Dim>(patch.cells, patch.q.seen(), centres.seen(), w.view(), criterion.view());
        strata::graph::for_each(patch.cells, [&](int i, int j, int k) {
            if (with_hole && !is_known({i, j, k})) return;
            CHECK(criterion.view()(i, j, k) == Approx(q).margin(1e-12));
            for (int d = Dim == 3 ? 0 : 2; d < 3; ++d)
                CHECK(w.view()(i, j, k, Dim == 3 ? d : 0) == Approx(vorticity[std::size_t(d)]).margin(1e-12));
        });
    };
    check({{{0, -0.5, 0}, {0.5, 0, 0}, {0, 0, 0}}}, {0, 0, 1}, 0.25);  // a rotation
    check({{{0, 2, 0}, {0, 0, 0}, {0, 0, 0}}}, {0, 0, -2}, 0);         // shear
    check({{{1, 0, 0}, {0, -1, 0}, {0, 0, 0}}}, {0, 0, 0}, -1);        // strain
    if (Dim == 3) check({{{0, 0, 1}, {0, 0, -3}, {-1, 2, 0}}}, {5, 2, 0}, 1 + 6);
}

namespace {

/// Probes of the ring in a linear flow.
template <int Dim>
std::vector<double> probed(const std::vector<Real3>& points) {
    Ring<Dim> ring(3);
    ring.declare_geometry();
    ring.declare_flow([](const Real3& x) {
        return FlowState{
            .rho = 1 + 0.1 * x[0], .u = {x[1], 0.2 - x[0], x[2]}, .p = 2 + 0.3 * x[0] - 0.2 * x[1]};
    });
    const auto labels =
        declare_probes(ring.graph, ring.graph.step(),
                       {ring.zones, Dim, 1.4, points, ring.nodes_of(), ring.centres_of()}, ring.q.last());
    Simulation run(ring.graph, Members::alone());
    run.start();
    run.advance(1);
    return run.numbers(labels.values);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("probes find their cells in any zone, and are exact for linear flows", "",
                       ((int Dim), Dim), 2, 3) {
    std::vector<Real3> points;
    for (int a = 0; a < 24; ++a)  // away from walls and ends, whose images are no linear flow
        points.push_back(Ring<Dim>::place(a + 0.3, 1.6, Dim == 3 ? 1.4 : 0));
    points.push_back(Ring<Dim>::place(16, 2, Dim == 3 ? 1.5 : 0));  // a node of the join
    const auto values = probed<Dim>(points);
    REQUIRE(values.size() == 5 * points.size());
    for (std::size_t n = 0; n < points.size(); ++n) {
        const Real3& x = points[n];
        CAPTURE(n);
        // A product is kept, of density and velocity: velocities are linear in each cell's neighbours.
        CHECK(values[5 * n] == Approx(1 + 0.1 * x[0]).epsilon(1e-12));
        CHECK(values[5 * n + 1] == Approx(x[1]).margin(1e-12));
        CHECK(values[5 * n + 2] == Approx(0.2 - x[0]).margin(1e-12));
        CHECK(values[5 * n + 3] == Approx(Dim == 3 ? x[2] : 0).margin(1e-12));
        CHECK(values[5 * n + 4] == Approx(2 + 0.3 * x[0] - 0.2 * x[1]).epsilon(1e-12));
    }
}

TEST_CASE("probes that no cell holds end the run with their places") {
    const std::string said = refusal([] { (void)probed<2>({{1.5, 0.7, 0}, {0, 0.1, 0}, {99, 0, 0}}); });
    CHECK(has(said, "no cell holds probe 2 at (0, 0.1, 0), probe 3 at (99, 0, 0): output.probes"));
}

namespace {

std::string run_on(const std::string& layout, const std::string& folder) {
    return said_on(layout, TEST_MEMBER " " + folder);
}

}  // namespace

TEST_CASE("wall distance, probes and surface files are the same on every layout", "[native]") {
    const TemporaryFolder folder;
    const auto at = [&](const std::string& layout) { return (folder.path() / layout).string(); };
    const std::string said = run_on("1x1", at("1x1"));
    for (const std::string layout : {"2x1", "1x2", "3x1"}) {
        CHECK(run_on(layout, at(layout)) == said);
        for (const std::string file : {"/2/surface-000001.csv", "/3/surface-000001.csv",
                                       "/2/walls-000001.vtkhdf", "/3/walls-000001.vtkhdf"}) {
            CAPTURE(layout, file);
            const std::string text = text_of(at("1x1") + file);
            CHECK(text.size() > 1000);
            CHECK(text_of(at(layout) + file) == text);
        }
    }
    // A row for each wall face, with its place and cell.
    std::istringstream rows(text_of(at("1x1") + "/2/surface-000001.csv"));
    std::string row;
    std::getline(rows, row);
    CHECK(row == "x,y,z,cp,cfx,cfy,cfz,yplus,zone,i,j,k");
    int count = 0;
    while (std::getline(rows, row)) {
        ++count;
        std::array<double, 12> value{};
        std::istringstream cells(row);
        std::string cell;
        std::size_t c = 0;
        for (; std::getline(cells, cell, ','); ++c) value.at(c) = std::stod(cell);
        REQUIRE(c == 12);
        const int zone = int(value[8]), i = int(value[9]) - 1, j = int(value[10]) - 1;
        REQUIRE((zone == 1 ? j : i) == 0);
        const Real3 a = Ring<2>::node(zone - 1, {i, j, 0}),
                    b = Ring<2>::node(zone - 1, zone == 1 ? Int3{i + 1, j, 0} : Int3{i, j + 1, 0});
        for (std::size_t d = 0; d < 2; ++d) CHECK(value[d] == Approx(0.5 * (a[d] + b[d])).margin(1e-14));
        CHECK(value[3] == Approx((0.7 + 0.05 * value[1] - 1 / 1.4) / 0.045).epsilon(1e-9));
        CHECK(value[7] > 0);
    }
    CHECK(count == 24);
}
