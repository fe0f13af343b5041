// Contact of bodies with velocity fields of their own: what happens at a grid point, momentum, and the same
// bits however the domain is divided.
#include <cmath>

#include "core/base/error.hpp"
#include "solvers/mpm/contact.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/mpm_runs.hpp"

using namespace strata;
using namespace strata::mpm;
using namespace strata::mpm::tests;

namespace {

Settings touching(std::vector<std::int64_t> patch, const std::string& shape, const std::string& transfer,
                  double friction, std::vector<std::int64_t> groups = {0, 1}) {
    Settings s = disks(std::move(patch), shape, transfer);
    s.materials.clear(), s.bodies.clear();
    s.velocities = {0.12, 0.06, 0, -0.12, -0.06, 0};  // not head on
    s.contact_groups = std::move(groups), s.friction = friction;
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
        REQUIRE(touch_all(at.data(), 2, friction));
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
    CHECK_FALSE(touch_all(apart.data(), 2, 0.5));
}

TEST_CASE("three bodies at a grid point do not approach each other any more, and keep their momentum") {
    std::array at{Touching{3, {0, 1, 0}, {0, 30, 0}, 1, 0}, Touching{1, {0, 0, 0}, {9, -8, 0}, 1, 1},
                  Touching{2, {0, -1, 0}, {-9, -8, 0}, 1, 2}};
    REQUIRE(touch_all(at.data(), 3, 0));
    double momentum = 0;
    for (const Touching& one : at) momentum += one.mass * one.velocity[1];
    CHECK(std::abs(momentum - 1) < 1e-12);
    CHECK(at[0].velocity[1] - at[1].velocity[1] < 1e-2);
    CHECK(at[0].velocity[1] - at[2].velocity[1] < 1e-2);
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
    two.contact_groups = {0, 1}, two.materials.clear(), two.bodies.clear();
    CHECK(same_bits(run(one), run(settled(two))));
}
