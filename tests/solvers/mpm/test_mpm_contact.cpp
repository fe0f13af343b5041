// Contact of bodies with velocity fields of their own: what happens at a grid point, momentum, and the same
// bits however the domain is divided.
#include <cmath>

#include "core/base/error.hpp"
#include "solvers/mpm/contact.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/mpm/mpm_runs.hpp"

using namespace strata;
using namespace strata::mpm;
using namespace strata::mpm::tests;

namespace {

Settings touching(std::vector<std::int64_t> patch, const std::string& shape, const std::string& transfer,
                  double friction, const std::vector<std::int64_t>& groups = {0, 1}) {
    Settings s = disks(std::move(patch), shape, transfer);
    move(s, {{0.12, 0.06, 0}, {-0.12, -0.06, 0}});  // not head on
    group(s, groups), s.friction = friction;
    s.flip = 1;
    return settled(s);
}

}  // namespace

TEST_CASE(
    "contact at a grid point: approaching bodies get one normal velocity and as much friction as holds") {
    // a below b, which has an edge there: the face of a counts.
    const auto meet = [](double along, double friction) {
        std::array at{Touching{3, {along, 1, 0}, {0, 30, 0}, 1000, 0},
                      Touching{1, {0, -1, 0}, {5, -8, 0}, 1000, 1}};
        const auto along_the_face = [&] {
            return 0.5 * (3 * at[0].velocity[0] * at[0].velocity[0] + at[1].velocity[0] * at[1].velocity[0]);
        };
        for (Touching& one : at) one.before = one.velocity;
        const double before = along_the_face();
        Real rubbed = 0;
        REQUIRE(touch_all(at.data(), 2, friction, rubbed));
        CHECK(rubbed == Approx(before - along_the_face()));                     // in J
        CHECK(3 * at[0].velocity[0] + at[1].velocity[0] == Approx(3 * along));  // momentum
        CHECK(at[0].velocity[1] == Approx(0.5));
        CHECK(at[1].velocity[1] == Approx(0.5));
        return at;
    };
    // The normal part is 2, of reduced mass 3/4: friction takes up to 2 f of the difference along the face.
    CHECK(meet(4, 0)[1].velocity[0] == 0);
    CHECK(meet(4, 0.5)[1].velocity[0] == Approx(0.75 * 1));
    CHECK(meet(4, 10)[1].velocity[0] == Approx(3));  // sticks: the velocity of both together
    CHECK(meet(4, 10)[0].velocity[0] == Approx(3));
    std::array apart{Touching{3, {0, -1, 0}, {0, 30, 0}, 1, 0}, Touching{1, {0, 1, 0}, {0, -8, 0}, 1, 1}};
    Real rubbed = 0;
    CHECK_FALSE(touch_all(apart.data(), 2, 0.5, rubbed));
    CHECK(rubbed == 0);
}

TEST_CASE("the normal is that of the first body, unless hardly any of its volume ends at the grid point") {
    // Both move along y and their normals are across each other: they meet along the one that counts.
    const auto meet = [](Touching a, Touching b) {
        a.velocity = {0, 1, 0}, b.velocity = {0, -1, 0};
        std::array at{a, b};
        Real rubbed = 0;
        const bool touched = touch_all(at.data(), 2, 0, rubbed);
        CHECK(touched == (at[0].velocity[1] == Approx(0).margin(1e-15)));
        return touched;
    };
    // A light first body beside a heavy one: 0.1 and 0.5 of volume for each metre.
    CHECK(meet({1, {}, {0, 10, 0}, 100, 0}, {1, {}, {-4000, 0, 0}, 8000, 1}));
    CHECK_FALSE(meet({1, {}, {800, 0, 0}, 8000, 0}, {1, {}, {0, -50, 0}, 100, 1}));
    // Hardly any of the first: 0.02 and 0.5.
    CHECK(meet({1, {}, {2, 0, 0}, 100, 0}, {1, {}, {0, -4000, 0}, 8000, 1}));
}

TEST_CASE("bodies in contact beside a symmetry wall move as with their mirror images") {
    const auto boxes = [](const std::string& shape, double wall) {
        Settings s;
        s.cells = {24, static_cast<std::int64_t>(12 - std::lround(wall / 0.05)), 1};
        s.patch_cells = {12, 3, 1}, s.size = {1.2, 0.6 - wall, 0.05};
        s.shape = shape, s.transfer_name = "flip", s.flip = 0.95;
        s.given_materials = {elastic(Law::neo_hookean, 1000, 2000, 0.3)};
        s.bodies = {box({0.2, 0.1 - wall, 0}, {0.5, 0.5 - wall, 0.05}),
                    box({0.6, 0.2 - wall, 0}, {1.0, 0.4 - wall, 0.05})};
        move(s, {{0.2, 0, 0}, {-0.2, 0, 0}});
        s.per_cell = {2, 2, 1};
        group(s, {0, 1}), s.friction = 0.3, s.end = 0.8;
        return settled(s);
    };
    for (const char* const shape : {"linear", "quadratic", "gimp"}) {
        INFO(shape);
        const Settings whole = boxes(shape, 0), half = boxes(shape, 0.3);
        const Ended at_first = run(whole, 0), half_at_first = run(half, 0), end = run(whole),
                    half_end = run(half);
        CHECK(half_at_first.points.size() * 2 == at_first.points.size());
        CHECK(end.strain > 0.02 * at_first.kinetic);
        CHECK(half_end.steps == end.steps);
        double away = 0;
        std::size_t found = 0;
        for (const auto& [id, p] : half_at_first.points)
            for (const auto& [other, q] : at_first.points) {
                if (std::abs(p[0] - q[0]) > 1e-6 || std::abs(p[1] + 0.3 - q[1]) > 1e-6) continue;
                ++found;
                const std::vector<double>&now = half_end.points.at(id), &image = end.points.at(other);
                away = std::max({away, std::abs(now[0] - image[0]), std::abs(now[1] + 0.3 - image[1])});
            }
        CHECK(found == half_at_first.points.size());
        CHECK(away < 1e-9);
    }
}

TEST_CASE("three bodies at a grid point do not approach each other any more, and keep their momentum") {
    std::array at{Touching{3, {0, 1, 0}, {0, 30, 0}, 1, 0}, Touching{1, {0, 0, 0}, {9, -8, 0}, 1, 1},
                  Touching{2, {0, -1, 0}, {-9, -8, 0}, 1, 2}};
    Real rubbed = 0;
    REQUIRE(touch_all(at.data(), 3, 0, rubbed));
    double momentum = 0;
    for (const Touching& one : at) momentum += one.mass * one.velocity[1];
    CHECK(std::abs(momentum - 1) < 1e-12);
    CHECK(at[0].velocity[1] - at[1].velocity[1] < 1e-2);
    CHECK(at[0].velocity[1] - at[2].velocity[1] < 1e-2);
    // The second pushes the third back towards the first, which had not met it before.
    std::array back{Touching{3, {0, 0, 0}, {0, 30, 0}, 1, 0}, Touching{1, {1, 0, 0}, {9, -9, 0}, 1, 1},
                    Touching{2, {0, 0, 0}, {0, -8, 0}, 1, 2}};
    REQUIRE(touch_all(back.data(), 3, 0, rubbed));
    CHECK(back[2].velocity[0] > 0.1);
    CHECK(back[0].velocity[1] - back[2].velocity[1] < 1e-2);
}

TEST_CASE("bodies that stick to each other move, while they meet, as one body does") {
    const auto meeting = [](const std::string& shape, const std::vector<std::int64_t>& groups) {
        Settings s;
        s.cells = {24, 4, 1}, s.patch_cells = {12, 4, 1}, s.size = {1.2, 0.2, 0.05};
        s.shape = shape, s.transfer_name = "flip", s.flip = 1;
        s.given_materials = {elastic(Law::neo_hookean, 1000, 2000, 0.3)};
        s.bodies = {box({0.2, 0, 0}, {0.6, 0.2, 0.05}), box({0.6, 0, 0}, {1, 0.2, 0.05})};
        move(s, {{0.2, 0, 0}, {-0.2, 0, 0}});
        s.per_cell = {2, 2, 1};
        group(s, groups), s.friction = groups.empty() ? 0 : 1e6;
        s.end = 1;
        return run(settled(s), 5);
    };
    for (const char* const shape : {"linear", "quadratic"}) {
        INFO(shape);
        const Ended one = meeting(shape, {}), two = meeting(shape, {0, 1});
        CHECK(one.strain > 1e-3 * one.kinetic);
        CHECK(two.strain == Approx(one.strain).epsilon(1e-9));
        double away = 0;
        for (const auto& [id, p] : one.points)
            for (std::size_t c = 0; c < 15; ++c) away = std::max(away, std::abs(p[c] - two.points.at(id)[c]));
        CHECK(away < 1e-9);
    }
}

TEST_CASE("disks in contact have the same bits on 1, 4 and 12 patches, keep momentum and part again") {
    const char* const methods[][2] = {{"linear", "flip"}, {"quadratic", "apic"}, {"gimp", "flip"}};
    for (const auto& [shape, transfer] : methods) {
        INFO(shape << " " << transfer);
        const Ended one = run(touching({24, 24, 1}, shape, transfer, 0.3));
        CHECK(same_bits(one, run(touching({12, 12, 1}, shape, transfer, 0.3))));
        CHECK(same_bits(one, run(touching({10, 7, 1}, shape, transfer, 0.3))));
        const Ended start = run(touching({24, 24, 1}, shape, transfer, 0.3), 1);
        for (std::size_t c = 0; c < 3; ++c) CHECK(std::abs(one.momentum[c] - start.momentum[c]) < 1e-11);
        CHECK(one.strain > 0.003);
        // Friction matters, and so does having fields of one's own.
        CHECK_FALSE(same_bits(one, run(touching({12, 12, 1}, shape, transfer, 0))));
        CHECK_FALSE(same_bits(one, run(touching({12, 12, 1}, shape, transfer, 0, {0, 0}))));
    }
}

TEST_CASE("groups that do not meet move as if each were alone") {
    // The same disks so far apart that no grid point knows both: one field or two, to the last bit.
    Settings one = touching({12, 12, 1}, "linear", "flip", 0, {}), two = one;
    one.end = two.end = 0.2;
    group(two, {0, 1});
    CHECK(same_bits(run(one), run(settled(two))));
}

TEST_CASE("bodies part freely, also from a cell that they share") {
    for (const char* const shape : {"linear", "quadratic", "gimp"})
        for (const bool swapped : {false, true}) {
            INFO(shape << swapped);
            Settings s;
            s.cells = {25, 4, 1}, s.patch_cells = {13, 4, 1}, s.size = {1.25, 0.2, 0.05};
            s.shape = shape, s.transfer_name = "flip", s.flip = 1;
            s.given_materials = {elastic(Law::neo_hookean, 1000, 2000, 0.3)};
            s.bodies = {box({0.2, 0, 0}, {0.625, 0.2, 0.05}), box({0.625, 0, 0}, {1.05, 0.2, 0.05})};
            move(s, {{-0.2, 0, 0}, {0.2, 0, 0}});
            s.per_cell = {2, 2, 1};
            s.bodies[swapped ? 0 : 1].group = 1;
            s.end = 0.3;
            s = settled(s);
            const Ended start = run(s, 0), end = run(s);
            CHECK(end.strain < 1e-12);
            for (const auto& [id, p] : end.points) {
                const double from = start.points.at(id)[0], way = from < 0.625 ? -0.2 : 0.2;
                CHECK(std::abs(p[3] - way) < 1e-10);
                CHECK(std::abs(p[0] - from - way * end.time) < 1e-10);
            }
        }
}
