// The time step and motions that are known exactly: how long a step is, free fall, damping, and velocities
// that are no number any more.
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/mpm/mpm_runs.hpp"

using namespace strata;
using namespace strata::mpm;
using namespace strata::mpm::tests;

namespace {

/// Two boxes of different stuff, far from each other and from the walls, in cells of 0.1 x 0.2 x 0.05 m.
Settings two_boxes() {
    Settings s;
    s.cells = {16, 8, 12}, s.patch_cells = {8, 8, 6}, s.size = {1.6, 1.6, 0.6};
    s.given_materials = {elastic(Law::neo_hookean, 1000, 1e5, 0.3), elastic(Law::von_mises, 1500, 3e5, 0.2)};
    s.given_materials[1].yield = 1e5;
    s.bodies = {box({0.3, 0.4, 0.15}, {0.5, 1.2, 0.45}), box({1.1, 0.4, 0.15}, {1.3, 1.2, 0.45})};
    s.bodies[1].material = 1;
    move(s, {{0.2, -0.3, 0.1}, {-0.1, 0.4, 0.05}});  // 2, 1.5, 2, and 1, 2, 1 cells a second
    s.end = 1, s.cfl = 0.3;
    return s;
}

double wave_rate(const Settings& s) {
    double fastest = 0;
    for (const Material& m : s.materials) fastest = std::max(fastest, m.wave_speed());
    return fastest / 0.05;
}

}  // namespace

TEST_CASE("a step is cfl cells for the fastest wave on the fastest point, in whichever direction that is") {
    constexpr double kCells[3] = {0.1, 0.2, 0.05};
    for (std::size_t entry = 0; entry < 6; ++entry) {
        INFO(entry);
        Settings s = two_boxes();
        s.bodies[entry / 3].velocity[entry % 3] = (entry < 3 ? 12 : -12) * kCells[entry % 3];
        s = settled(s);
        const double dt = 0.3 / (wave_rate(s) + 12);
        CHECK(run(s, 1).time == Approx(dt).epsilon(1e-13));     // as bodies are at the start
        CHECK(run(s, 4).time == Approx(4 * dt).epsilon(1e-9));  // as points have moved since
    }
    Settings s = two_boxes();
    s.plates = {{.axis = 1, .upper = true, .place = 1.5, .velocity = {0, -5, 0}}};
    s = settled(s);
    CHECK(run(s, 1).time == Approx(0.3 / (wave_rate(s) + 25)).epsilon(1e-13));
    s.end = 0.5 * run(s, 1).time;
    CHECK(run(s).time == s.end);
    CHECK(run(s).steps == 1);
}

TEST_CASE("in what is stretched waves cross more cells, and steps are shorter") {
    Settings s;
    s.cells = {32, 1, 1}, s.patch_cells = {8, 1, 1}, s.size = {1, 0.05, 0.05};
    s.walls = {wall("x", Wall::periodic)};
    s.shape = "quadratic", s.transfer_name = "apic";
    s.given_materials = {elastic(Law::neo_hookean, 1, 1e4, 0.3)};
    s.bodies = {box({0, 0, 0}, {1, 0.05, 0.05})};
    s.problem = "periodic bar", s.amplitude = 0.05, s.end = 0.02, s.cfl = 0.2;
    s = settled(s);
    const Ended first = run(s, 1);
    double squares = 0;
    for (const auto& [id, p] : first.points) {
        double own = 0;
        for (std::size_t c = 0; c < 9; ++c) own += p[6 + c] * p[6 + c];
        squares = std::max(squares, own);
    }
    CHECK(squares > 3.5);
    // It begins at rest.
    CHECK(first.time == Approx(0.2 * 0.03125 / (s.materials[0].wave_speed() * std::sqrt(squares / 3))));
}

TEST_CASE("what falls freely follows its parabola, step by step of any length") {
    const char* const methods[][2] = {{"linear", "flip"},
                                      {"linear", "apic"},
                                      {"quadratic", "apic"},
                                      {"quadratic", "pic"},
                                      {"gimp", "flip"}};
    for (const auto& [shape, transfer] : methods) {
        INFO(shape << " " << transfer);
        Settings s = two_boxes();
        s.shape = shape, s.transfer_name = transfer, s.flip = 0.9;
        move(s, {{0.4, -0.5, 0.1}, {0.4, -0.5, 0.1}});
        s.gravity = {-4, 20, 3}, s.end = 0.06;
        s = settled(s);
        const Ended start = run(s, 0), end = run(s);
        CHECK(end.steps > 10);
        REQUIRE(start.points.size() == end.points.size());
        double away = 0;
        for (const auto& [id, p] : end.points) {
            const std::vector<double>& q = start.points.at(id);
            for (std::size_t d = 0; d < 3; ++d) {
                const double path =
                    s.bodies[0].velocity[d] * end.time + 0.5 * s.gravity[d] * end.time * end.time;
                away = std::max(away, std::abs(p[d] - q[d] - path));
            }
        }
        CHECK(away < 1e-10);
        // Their velocities are those half a step before; the work is that on their way.
        double mass = 0, work = 0;
        for (const auto& [id, p] : end.points) mass += p[15];
        for (std::size_t d = 0; d < 3; ++d)
            work += mass * s.gravity[d] *
                    (s.bodies[0].velocity[d] * end.time + 0.5 * s.gravity[d] * end.time * end.time);
        CHECK(end.momentum[1] / mass == Approx(-0.5 + 20 * end.time).epsilon(0.05));
        CHECK(std::abs(end.work / work - 1) < 0.1);  // up to the last step's beginning
    }
}

TEST_CASE("damping takes its share of a velocity a second") {
    for (const char* const transfer : {"flip", "apic"}) {
        Settings s = two_boxes();
        s.transfer_name = transfer, s.flip = 1, s.damping = 30;
        s.end = 0.05;
        s = settled(s);
        const Ended start = run(s, 0), end = run(s);
        double mass = 0, before = 0;
        for (const auto& [id, p] : start.points) mass += p[15], before += p[15] * p[4];
        // Velocities are those in the middle between steps.
        const Ended last = run(s, end.steps - 1);
        const double middle = 0.5 * (last.time + end.time);
        CHECK(end.momentum[1] == Approx(before * std::exp(-30 * middle)).epsilon(2e-3));
        CHECK(mass > 0);
    }
}

TEST_CASE("velocities that are no number end the run with the patch, the step and the label") {
    Settings s = two_boxes();
    s.gravity = {0, -1e200, 0};
    try {
        run(settled(s));
        FAIL("it ended");
    } catch (const Error& error) {
        const std::string text = error.what();
        INFO(text);
        CHECK(text.find("'velocity'") != std::string::npos);
        CHECK(text.find("patch ") != std::string::npos);
        CHECK(text.find("step 1") != std::string::npos);
    }
}
