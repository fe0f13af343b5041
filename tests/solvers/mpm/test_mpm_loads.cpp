// Pressure and traction on surfaces, holes and bodies cut at their edges: areas and forces, Lame's thick
// cylinder with its order of convergence, and the same bits however the domain is divided.
#include <cmath>
#include <numbers>

#include "core/base/error.hpp"
#include "solvers/mpm/fill.hpp"
#include "solvers/mpm/surface.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/mpm/mpm_runs.hpp"

using namespace strata;
using namespace strata::mpm;
using namespace strata::mpm::tests;

namespace {

constexpr double kPi = std::numbers::pi;

/// A quarter of a thick cylinder, 0.4 to 1 m, in n x n cells.
Settings thick_cylinder(std::int64_t n, std::vector<std::int64_t> patch, const std::string& shape) {
    Settings s;
    s.cells = {n, n, 1}, s.patch_cells = std::move(patch), s.size = {1.1, 1.1, 0.05};
    s.shape = shape, s.transfer_name = "flip", s.flip = 1;
    s.given_materials = {elastic(Law::linear, 1000, 1e6, 0.3)};
    s.bodies = {cylinder({0, 0, 0}, {0, 0, 0.05}, 0.4), cylinder({0, 0, 0}, {0, 0, 0.05}, 1)};
    s.bodies[0].hole = true, s.per_cell = {2, 2, 1}, s.edges = "cut";
    s.surfaces = {{.shape = Body::Shape::cylinder, .b = {0, 0, 0.05}, .radius = 0.4, .pressure = 50}};
    s.rise = 0.15, s.damping = 60;
    s.problem = "cylinder", s.end = 0.3;
    return settled(s);
}

}  // namespace

TEST_CASE("a cut body has its volume, and surface points the area of their surface") {
    const Settings s = thick_cylinder(22, {22, 22, 1}, "linear");
    graph::Graph graph("mpm");
    const graph::Grid& grid = graph.grid("grid", s.grid());
    const std::vector<SurfacePoint> surface = surface_points(s);
    double volume = 0, area = 0, moment = 0;
    std::size_t points = 0;
    for (const Particle& p : fill(s, grid, 0, surface)) {
        volume += p.share * 0.05 * 0.05 * 0.05 / 4;
        moment += p.x[0] * p.share * 0.05 * 0.05 * 0.05 / 4;
        points += p.surface >= 0;
        area += std::hypot(p.area[0], p.area[1]);
        if (p.surface >= 0) CHECK(std::abs(std::hypot(p.x[0], p.x[1]) - 0.4) < 1e-12);
    }
    CHECK(std::abs(volume / (kPi / 4 * (1 - 0.16) * 0.05) - 1) < 1e-3);
    // Of a quarter of a ring: (b^3 - a^3) / 3 for each metre of its length.
    CHECK(std::abs(moment / ((1 - 0.064) / 3 * 0.05) - 1) < 1e-3);
    CHECK(std::abs(area / (kPi / 2 * 0.4 * 0.05) - 1) < 1e-12);
    CHECK(points == surface.size());
}

TEST_CASE("a cylinder ends at its ends, and a sphere at its radius") {
    Settings s;
    s.cells = {10, 10, 10}, s.patch_cells = {10, 10, 10}, s.size = {1, 1, 1};
    s.given_materials = {elastic(Law::linear, 1000, 1e6, 0.3)};
    s.bodies = {cylinder({0.3, 0.3, 0.2}, {0.3, 0.6, 0.5}, 0.1), sphere({0.7, 0.7, 0.7}, 0.2)};
    s = settled(s);
    const Body &rod = s.bodies[0], &ball = s.bodies[1];
    CHECK(rod.contains({0.3, 0.45, 0.35}));
    CHECK(rod.contains({0.399, 0.31, 0.21}));
    CHECK_FALSE(rod.contains({0.401, 0.31, 0.21}));
    CHECK_FALSE(rod.contains({0.3, 0.29, 0.19}));
    CHECK_FALSE(rod.contains({0.3, 0.61, 0.51}));
    CHECK(ball.contains({0.7, 0.56, 0.83}));
    CHECK_FALSE(ball.contains({0.7, 0.55, 0.84}));
}

TEST_CASE("pressure follows the surface, traction does not") {
    Surface f;
    f.pressure = 10;
    const double F[9] = {0, -2, 0, 1, 0, 0, 0, 0, 3};  // x to y, y to -2 x, z to 3 z
    const Real3 force = surface_force(f, F, {0.5, 0, 0}, 0.5);
    // The face across x of 0.5 m2 is across y now, of 0.5 . 2 . 3 m2.
    CHECK(std::abs(force[0]) < 1e-15);
    CHECK(force[1] == Approx(0.5 * 10 * 3));
    f.pressure = 0, f.traction = {1, 2, 3};
    CHECK(surface_force(f, F, {0.5, 0, 0}, 1)[2] == Approx(1.5));
}

TEST_CASE("a thick cylinder under pressure is Lame's, and comes nearer to it with finer cells") {
    const Ended coarse = run(thick_cylinder(11, {11, 11, 1}, "quadratic")),
                fine = run(thick_cylinder(22, {11, 11, 1}, "quadratic"));
    INFO(coarse.error << " " << fine.error);
    CHECK(fine.error < 0.01);
    CHECK(std::log2(coarse.error / fine.error) > 1);
    CHECK(same_bits(fine, run(thick_cylinder(22, {22, 22, 1}, "quadratic"))));
    CHECK(same_bits(fine, run(thick_cylinder(22, {5, 9, 1}, "quadratic"))));
    CHECK(run(thick_cylinder(22, {11, 11, 1}, "gimp")).error < 0.02);
}

TEST_CASE("a sphere under pressure from all sides keeps its place; a rectangle's traction pulls its body") {
    Settings s;
    s.cells = {16, 16, 16}, s.patch_cells = {8, 8, 8}, s.size = {1, 1, 1};
    s.shape = "quadratic", s.transfer_name = "flip", s.flip = 1;
    s.given_materials = {elastic(Law::neo_hookean, 1000, 1e6, 0.3)};
    s.bodies = {sphere({0.5, 0.5, 0.5}, 0.3)}, s.edges = "cut";
    s.surfaces = {{.shape = Body::Shape::sphere, .centre = {0.5, 0.5, 0.5}, .radius = 0.3, .pressure = -1e4}};
    s.rise = 0.05, s.damping = 100;
    s.end = 0.1;
    const Ended squeezed = run(settled(s));
    const double mass = 1000 * 4.0 / 3 * kPi * 0.027;
    for (const double p : squeezed.momentum) CHECK(std::abs(p) < 1e-6 * mass);
    // Hydrostatic: energy p^2 / 2 K a volume.
    const double bulk = 1e6 / (3 * (1 - 2 * 0.3));
    CHECK(std::abs(squeezed.strain / (1e8 / (2 * bulk) * mass / 1000) - 1) < 0.1);

    s.bodies = {box({0.25, 0.25, 0.25}, {0.75, 0.75, 0.75})};
    s.surfaces = {{.a = {0.75, 0.25, 0.25}, .b = {0.75, 0.75, 0.75}, .traction = {0, 400, 0}}};
    s.rise = s.damping = 0, s.end = 0.02;
    const Ended pulled = run(settled(s));
    CHECK(std::abs(pulled.momentum[1] / (400 * 0.25 * 0.02) - 1) < 0.02);
}
