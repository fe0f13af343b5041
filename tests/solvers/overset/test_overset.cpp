// Connectivity of grids that overlap: holes, donors, the choice of cells, interpolation.

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "methods/geometry/surface.hpp"
#include "methods/overset/hole_map.hpp"
#include "methods/overset/inverse.hpp"
#include "tests/catch.hpp"
#include "tests/graph/solvers/solver.hpp"
#include "tests/solvers/overset/overset_grids.hpp"
#include "tests/solvers/program_runs.hpp"

using namespace strata::tests;
using namespace strata::overset;
using strata::geometry::Facet;
using strata::geometry::Surface;
using strata::graph::Members;
using strata::graph::Simulation;

namespace {

struct Drawn {
    std::mt19937_64 random{11};
    double number(double lo, double hi) {
        return lo + (hi - lo) * static_cast<double>(random() >> 11) / 9007199254740992.0;
    }
};

template <int Dim>
void check_inverse() {
    Drawn drawn;
    for (int n = 0; n < 2000; ++n) {
        Corners<Dim> corners;
        // Flat cells too: a thousand times as long as high.
        const Real3 size{1, n % 3 == 0 ? 1e-3 : 1, 1};
        for (std::size_t c = 0; c < corners.size(); ++c)
            for (std::size_t d = 0; d < Dim; ++d)
                corners[c][d] = size[d] * (double(c >> d & 1) + drawn.number(-0.15, 0.15));
        Real3 at{}, x{}, xi;
        for (std::size_t d = 0; d < Dim; ++d) at[d] = drawn.number(-0.5, 1.5);
        const auto w = weights<Dim>(at);
        for (std::size_t c = 0; c < corners.size(); ++c)
            for (std::size_t d = 0; d < Dim; ++d) x[d] += w[c] * corners[c][d];
        REQUIRE(invert<Dim>(corners, x, xi));
        for (std::size_t d = 0; d < Dim; ++d) CHECK(xi[d] == Approx(at[d]).margin(1e-9));
    }
}

/// A closed surface around a star-shaped body, in parts as patches would have them.
template <int Dim>
std::vector<Surface> body(double radius, int parts) {
    std::vector<std::vector<Facet>> all(std::size_t(parts), std::vector<Facet>{});
    const auto shape = [&](double a, double b) {
        const double r = radius * (1 + 0.2 * std::cos(3 * a) * std::sin(b));
        return Real3{r * std::cos(a) * std::sin(b), r * std::sin(a) * std::sin(b),
                     Dim == 3 ? r * std::cos(b) : 0};
    };
    const int n = 60, m = Dim == 3 ? 30 : 1;
    std::size_t number = 0;
    const auto angle = [&](int i) { return 2 * std::numbers::pi * (i % n) / n; };
    for (int j = 0; j < m; ++j)
        for (int i = 0; i < n; ++i) {
            auto& part = all[number++ % std::size_t(parts)];
            if (Dim == 2) {
                const Real3 p = shape(angle(i), std::numbers::pi / 2),
                            q = shape(angle(i + 1), std::numbers::pi / 2);
                part.push_back({p, q, q});
                continue;
            }
            const auto polar = [&](int k) { return std::numbers::pi * k / m; };
            const auto node = [&](int a, int b) {
                return b == 0   ? Real3{0, 0, radius}
                       : b == m ? Real3{0, 0, -radius}
                                : shape(angle(a), polar(b));
            };
            part.push_back({node(i, j), node(i + 1, j), node(i + 1, j + 1)});
            part.push_back({node(i, j), node(i + 1, j + 1), node(i, j + 1)});
        }
    std::vector<Surface> made;
    for (auto& part : all) made.emplace_back(Dim, std::move(part));
    return made;
}

template <int Dim>
void check_inside() {
    const std::vector<Surface> parts = body<Dim>(1, 4);
    Bounds bounds;
    for (const Surface& part : parts) bounds.add(part.bounds());
    HoleMap map(Dim, bounds);
    std::vector<bool> marked(HoleMap::cells(Dim), false);
    for (const Surface& part : parts)
        for (const auto& facet : part.facets())
            map.mark(facet.corners, [&](std::size_t cell) { marked[cell] = true; });
    map.fill(marked);
    Drawn drawn;
    int sure = 0, tried = 0;
    for (int n = 0; n < 20000; ++n) {
        const Real3 x{drawn.number(-1.5, 1.5), drawn.number(-1.5, 1.5),
                      Dim == 3 ? drawn.number(-1.5, 1.5) : 0};
        const double r = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        const double b = Dim == 3 ? std::acos(x[2] / r) : std::numbers::pi / 2;
        const double wall = 1 + 0.2 * std::cos(3 * std::atan2(x[1], x[0])) * std::sin(b);
        if (std::abs(r - wall) < 0.05) continue;  // the body is made of flat pieces
        ++tried;
        unsigned rays = 0;
        for (const Surface& part : parts) rays ^= part.rays(x);
        CHECK(strata::geometry::inside(rays, Dim) == (r < wall));
        const auto is = map.at(x);
        if (is == HoleMap::Cell::wall) continue;
        ++sure;
        CHECK((is == HoleMap::Cell::inside) == (r < wall));
    }
    CHECK(sure > tried / 2);
}

template <int Dim>
std::array<std::int64_t, kCounts> counts_of(const Simulation& run, const OversetGrids<Dim>& grids, int zone) {
    const auto all = run.numbers(grids.found().counts);
    std::array<std::int64_t, kCounts> these{};
    for (std::size_t c = 0; c < kCounts; ++c) these[c] = all[std::size_t(zone) * kCounts + c];
    return these;
}

/// Calls call(zone, cell, status, centre, got, second value) for all cells.
template <int Dim, class Call>
void each_cell(const Simulation& run, const OversetGrids<Dim>& grids, Call call) {
    for (int patch = 0; patch < grids.zones.patches(); ++patch) {
        const auto status = values_of<std::int32_t>(run, grids.found().status.id(), patch);
        const auto centres = values_of<double>(run, grids.centres.id(), patch);
        const auto got = values_of<double>(run, grids.got.id(), patch);
        const std::size_t cells = status.size();
        std::size_t n = 0;
        strata::graph::for_each(grids.zones.box(patch), [&](int i, int j, int k) {
            Real3 x{};
            for (std::size_t d = 0; d < Dim; ++d) x[d] = centres[d * cells + n];
            call(grids.zones.zone_of(patch), Int3{i, j, k}, Cell(status[n]), x, got[n], got[cells + n]);
            ++n;
        });
    }
}

std::vector<OversetMesh> ring_in_brick() {
    return {brick_mesh<2>("background", {60, 50, 1}, {-3, -2.5, 0}, {3, 2.5, 0}, 0.03),
            ring_mesh<2>("ring", 40, 16, {0.1, 0.05, 0}, 0.5, 3)};
}

double linear(const Real3& x) { return 0.3 + 2 * x[0] - 1.5 * x[1] + 0.7 * x[2]; }

std::string run_on(const std::string& layout) { return said_on(layout, TEST_MEMBER); }

}  // namespace

TEST_CASE("Newton's method inverts bilinear and trilinear maps, of flat cells too") {
    check_inverse<2>();
    check_inverse<3>();
}

TEST_CASE("rays and the map of walls tell inside from outside, in parts of a surface") {
    check_inside<2>();
    check_inside<3>();
}

TEST_CASE("a ring around a cylinder in a background: holes, fringes, and a linear field carried over") {
    OversetGrids<2> grids(ring_in_brick(), 9);
    grids.declare_exchange(linear);
    Simulation run(grids.graph, Members::alone());
    run.start();
    run.advance(1);
    const auto background = counts_of(run, grids, 0), ring = counts_of(run, grids, 1);
    CHECK(background[kOrphans] == 0);
    CHECK(ring[kOrphans] == 0);
    CHECK(ring[kHoles] == 0);
    CHECK(ring[kReceptors] == 2 * 40);  // the two outer layers
    CHECK(background[kReceptors] > 0);
    CHECK(background[kHoles] > 0);
    for (int zone = 0; zone < 2; ++zone) {
        std::int64_t all = 0;
        for (const std::int64_t n : counts_of(run, grids, zone)) all += n;
        CHECK(all == (zone == 0 ? 3000 : 640));
    }
    each_cell(run, grids, [&](int zone, const Int3& cell, Cell is, const Real3& x, double got, double one) {
        const double r = std::hypot(x[0] - 0.1, x[1] - 0.05);
        INFO(zone << ": " << cell[0] << " " << cell[1] << " " << x[0] << " " << x[1]);
        if (zone == 0 && r < 0.49) CHECK(is == Cell::hole);
        if (zone == 0 && r > 1.6) CHECK(is == Cell::computed);
        if (zone == 1 && r < 0.85) CHECK(is == Cell::computed);  // finer than the background
        if (is == Cell::receptor) {
            CHECK(one == Approx(1).epsilon(1e-14));  // donors are computed: others hold 1e9
            CHECK(got == Approx(linear(x)).margin(1e-11));
        }
    });
    // The gap: each place has a computed cell, or two.
    const auto [smallest, largest] = run.value(grids.found().ratios);
    CHECK(-smallest > 0.05);
    CHECK(largest < 20);
}

TEST_CASE("a turned box in a box, in three dimensions: the finer mesh is computed") {
    std::vector<OversetMesh> meshes{
        brick_mesh<3>("outer", {20, 18, 16}, {0, 0, 0}, {2, 2, 2}, 0.02),
        brick_mesh<3>("inner", {16, 14, 14}, {0.5, 0.55, 0.5}, {1.4, 1.5, 1.45}, 0.03, 0.4)};
    meshes[1].outer = all_faces(3);
    OversetGrids<3> grids(std::move(meshes), 7);
    grids.declare_exchange(linear);
    Simulation run(grids.graph, Members::alone());
    run.start();
    run.advance(1);
    const auto outer = counts_of(run, grids, 0), inner = counts_of(run, grids, 1);
    CHECK(outer[kOrphans] + inner[kOrphans] == 0);
    CHECK(outer[kHoles] == 0);
    CHECK(outer[kReceptors] > 0);
    CHECK(inner[kComputed] == 12 * 10 * 10);
    each_cell(run, grids, [&](int, const Int3&, Cell is, const Real3& x, double got, double one) {
        if (is != Cell::receptor) return;
        CHECK(one == Approx(1).epsilon(1e-13));
        CHECK(got == Approx(linear(x)).margin(1e-11));
    });
}

TEST_CASE("a cylinder between planes of symmetry cuts holes though its ends are open") {
    std::vector<OversetMesh> meshes{brick_mesh<3>("background", {30, 26, 4}, {-3, -2.5, 0}, {3, 2.5, 1}),
                                    ring_mesh<3>("ring", 32, 16, {0.1, 0.05, 0}, 0.5, 3.4, 3)};
    OversetGrids<3> grids(std::move(meshes), 12);
    grids.declare_exchange(linear);
    Simulation run(grids.graph, Members::alone());
    run.start();
    run.advance(1);
    CHECK(counts_of(run, grids, 0)[kOrphans] + counts_of(run, grids, 1)[kOrphans] == 0);
    each_cell(run, grids, [&](int zone, const Int3&, Cell is, const Real3& x, double got, double) {
        const double r = std::hypot(x[0] - 0.1, x[1] - 0.05);
        if (zone == 0 && r < 0.48) CHECK(is == Cell::hole);
        if (zone == 0 && r > 1.8) CHECK(is == Cell::computed);
        if (is == Cell::receptor) CHECK(got == Approx(linear(x)).margin(1e-11));
    });
}

TEST_CASE("a mesh that lies across the join of a sector has donors on both sides, and cuts holes there") {
    constexpr double kAngle = std::numbers::pi / 2;
    const Real3 middle{1.5, 0.01, 0};
    bool cylinder = false;
    const auto scalar = [](const Real3& x) { return 0.3 + 0.7 * x[2]; };
    // The same in all sectors: a swirl, and a flow outwards.
    const auto vector = [](const Real3& x) {
        return Real3{0.5 * x[0] - 2 * x[1], 2 * x[0] + 0.5 * x[1], 1 - x[2]};
    };
    std::vector<OversetMesh> meshes{sector_mesh("sector", {48, 32, 10}, kAngle)};
    SECTION("a box") {
        meshes.push_back(
            brick_mesh<3>("box", {16, 16, 12}, {1.25, -0.3, 0.21}, {1.76, 0.31, 0.8}, 0.02, 0.3));
        meshes[1].outer = all_faces(3);
    }
    SECTION("a cylinder") {
        meshes.push_back(ring_mesh<3>("ring", 48, 16, middle, 0.2, 2.3, 12)), cylinder = true;
    }
    OversetGrids<3> grids(std::move(meshes), 9);
    grids.declare_exchange(scalar, vector);
    Simulation run(grids.graph, Members::alone());
    run.start();
    run.advance(1);
    CHECK(counts_of(run, grids, 0)[kOrphans] + counts_of(run, grids, 1)[kOrphans] == 0);
    std::array<int, 2> before{},
        behind{};  // receptors of the sector, of the other mesh: y < 0, or the last cells
    int holes = 0;
    for (int patch = 0; patch < grids.zones.patches(); ++patch) {
        const auto status = values_of<std::int32_t>(run, grids.found().status.id(), patch);
        const auto centres = values_of<double>(run, grids.centres.id(), patch);
        const auto got = values_of<double>(run, grids.got.id(), patch);
        const std::size_t cells = status.size(), mesh = std::size_t(grids.zones.zone_of(patch));
        for (std::size_t n = 0; n < cells; ++n) {
            const Real3 x{centres[n], centres[cells + n], centres[2 * cells + n]};
            const bool image = mesh == 0 && x[1] > x[0];
            const Real3 seen = image ? Real3{x[1], -x[0], x[2]} : x;  // turned back by a quarter
            const double away = std::hypot(seen[0] - middle[0], seen[1] - middle[1]);
            if (cylinder && mesh == 0 && away < 0.17) {
                CHECK(Cell(status[n]) == Cell::hole);
                holes += image ? 1 : 1000;
            }
            if (Cell(status[n]) != Cell::receptor) continue;
            ++(x[1] < 0 || image ? before : behind)[mesh];
            CHECK(got[cells + n] == Approx(1).epsilon(1e-13));
            CHECK(got[n] == Approx(scalar(x)).margin(1e-11));
            for (std::size_t d = 0; d < 3; ++d)
                CHECK(got[(2 + d) * cells + n] == Approx(vector(x)[d]).margin(1e-11));
        }
    }
    for (std::size_t mesh = 0; mesh < 2; ++mesh) {
        CHECK(before[mesh] > 20);
        CHECK(behind[mesh] > 20);
    }
    if (!cylinder) return;
    CHECK(holes > 1000);      // inside the wall
    CHECK(holes % 1000 > 0);  // and where its part beyond the join is seen
}

TEST_CASE("too little overlap: orphans are counted, and hold the mean of computed cells around them") {
    auto meshes = ring_in_brick();
    meshes[1] = ring_mesh<2>("ring", 40, 4, {0.1, 0.05, 0}, 0.5, 1.3);
    OversetGrids<2> grids(std::move(meshes), 9);
    grids.declare_exchange([](const Real3&) { return 5.0; });
    Simulation run(grids.graph, Members::alone());
    run.start();
    run.advance(1);
    CHECK(counts_of(run, grids, 0)[kOrphans] + counts_of(run, grids, 1)[kOrphans] > 0);
    int orphans = 0;
    each_cell(run, grids, [&](int, const Int3&, Cell is, const Real3&, double got, double) {
        if (is == Cell::orphan) orphans += got == Approx(5) || got == 1e9 ? 1 : 0;
        if (is == Cell::orphan && got != 1e9) CHECK(got == Approx(5));
    });
    CHECK(orphans > 0);
}

TEST_CASE("two meshes on one wall: the coarser wall lies in the body, and costs no orphans") {
    // A fine ring, and a coarse cap on a part of it: the middles of its chords lie inside the fine wall.
    std::vector<OversetMesh> meshes{ring_mesh<2>("whole", 96, 20, {0, 0, 0}, 1, 4),
                                    brick_mesh<2>("cap", {5, 16, 1}, {0, 0, 0}, {1, 1, 0})};
    meshes[0].outer = {};
    meshes[1].place = [](const Int3& node) {
        const double angle = 0.4 + 1.2 * node[0] / 5.0, r = 1 + 0.7 * std::pow(node[1] / 16.0, 1.5);
        return Real3{r * std::cos(-angle), r * std::sin(-angle), 0};
    };
    meshes[1].walls = {{1, false}};
    meshes[1].cuts = false;
    meshes[1].outer = {{0, false}, {0, true}, {1, true}};
    const auto orphans = [&](bool share) {
        OversetGrids<2> grids(
            meshes, 40, share ? std::vector<std::array<int, 2>>{{0, 1}} : std::vector<std::array<int, 2>>{});
        grids.declare_exchange(linear);
        Simulation run(grids.graph, Members::alone());
        run.start();
        run.advance(1);
        if (share) {
            // Wall faces by what they count: the wall once, but for the ends of the strip, a face or two.
            double length = 0;
            for (int patch = 0; patch < grids.zones.patches(); ++patch) {
                const auto status = values_of<std::int32_t>(run, grids.found().status.id(), patch);
                const auto counts = values_of<double>(run, grids.found().share->id(), patch);
                const Box cells = grids.zones.box(patch);
                if (cells.lo[1] != 0) continue;
                const auto& place = grids.meshes[std::size_t(grids.zones.zone_of(patch))].place;
                for (int i = 0; i < cells.extent(0); ++i) {
                    if (Cell(status[std::size_t(i)]) != Cell::computed) continue;
                    const Real3 a = place({cells.lo[0] + i, 0, 0}), b = place({cells.lo[0] + i + 1, 0, 0});
                    length += counts[std::size_t(i)] * std::hypot(b[0] - a[0], b[1] - a[1]);
                }
            }
            CHECK(length == Approx(2 * std::numbers::pi).epsilon(0.06));
        }
        const std::int64_t holes = counts_of(run, grids, 1)[kHoles];
        return std::pair(holes, counts_of(run, grids, 0)[kOrphans] + counts_of(run, grids, 1)[kOrphans]);
    };
    CHECK(orphans(true) == std::pair<std::int64_t, std::int64_t>(0, 0));
    CHECK(orphans(false).first + orphans(false).second > 0);
}

TEST_CASE("zones of one cell across are refused") {
    std::vector<OversetMesh> meshes{brick_mesh<3>("a", {4, 4, 1}, {0, 0, 0}, {1, 1, 1}),
                                    brick_mesh<3>("b", {4, 4, 4}, {0, 0, 0}, {1, 1, 1})};
    CHECK_THROWS_AS(OversetGrids<3>(std::move(meshes), 8), strata::Error);
}

TEST_CASE("connectivity has the same bits on every layout", "[native]") {
    const std::string said = run_on("1x1");
    CHECK(said.size() > 40);
    for (const std::string layout : {"2x1", "1x2", "4x1"}) {
        CAPTURE(layout);
        CHECK(run_on(layout) == said);
    }
}
