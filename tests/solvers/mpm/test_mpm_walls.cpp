// Walls that move, plates, walls with friction, and walls of different kinds: against plane waves and
// Coulomb's law, and the same bits however the domain is divided.
#include <cmath>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/mpm/mpm_runs.hpp"

using namespace strata;
using namespace strata::mpm;
using namespace strata::mpm::tests;

namespace {

constexpr double kDensity = 1000, kYoung = 1e6, kPoisson = 0.25;
const double kMu = kYoung / (2 * (1 + kPoisson));

/// A block of 1 m x 0.1 m x 0.1 m that ends at x = 1, in a domain of 1.2 m.
Settings block(const std::string& shape, std::vector<std::int64_t> patch) {
    Settings s;
    s.cells = {60, 5, 5}, s.patch_cells = std::move(patch), s.size = {1.2, 0.1, 0.1};
    s.shape = shape, s.transfer_name = "flip", s.flip = 1;
    s.given_materials = {elastic(Law::neo_hookean, kDensity, kYoung, kPoisson)};
    s.bodies = {box({0, 0, 0}, {1, 0.1, 0.1})};
    s.end = 0.02;
    return s;
}

Settings piston(const std::string& shape, std::vector<std::int64_t> patch) {
    Settings s = block(shape, std::move(patch));
    s.plates = {{.axis = 0, .upper = true, .place = 1, .velocity = {-0.2, 0, 0}}};
    return settled(s);
}

/// Its lower wall in y moves along x; periodic in x, so that a plane wave of shear goes up from a block at
/// rest.
Settings sheared(const std::string& shape, std::vector<std::int64_t> patch, double velocity = 0) {
    Settings s;
    s.cells = {4, 60, 4}, s.patch_cells = std::move(patch), s.size = {0.1, 1.2, 0.1};
    s.shape = shape, s.transfer_name = "flip", s.flip = 1;
    s.walls = {wall("x", Wall::periodic), wall("y-min", Wall::fixed, {0.2, 0, 0})};
    s.given_materials = {elastic(Law::linear, kDensity, kYoung, kPoisson)};
    s.bodies = {box({0, 0, 0}, {0.1, 1.2, 0.1})}, move(s, {{velocity, 0, 0}});
    s.end = 0.04;
    return settled(s);
}

std::string refusal(const Settings& s) {
    try {
        settled(s);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a plate that pushes a block gives it rho c A V of momentum a second") {
    // B-splines have no grid point at the plate's face: it is felt some part of a cell late.
    for (const auto& [shape, late] :
         {std::pair{"linear", 0.03}, std::pair{"quadratic", 0.12}, std::pair{"gimp", 0.03}}) {
        INFO(shape);
        const Settings s = piston(shape, {20, 5, 5});
        const Ended end = run(s);
        const double c = s.materials[0].wave_speed();
        CHECK(c * end.time < 0.95);  // the wave has not come to the other end
        CHECK(std::abs(end.momentum[0] / (-kDensity * c * 0.01 * 0.2 * end.time) - 1) < late);
        CHECK(same_bits(end, run(piston(shape, {60, 5, 5}))));
        CHECK(same_bits(end, run(piston(shape, {13, 3, 5}))));
    }
}

TEST_CASE("a plate that comes nearer takes along what it meets, over several cells") {
    for (const char* const shape : {"linear", "quadratic", "gimp"})
        for (const bool upper : {true, false}) {
            INFO(shape << upper);
            Settings s = block(shape, {20, 5, 5});
            s.bodies = {box({0.5, 0, 0}, {0.7, 0.1, 0.1})};
            // At 0.1 m from the block; 0.16 m further at the end.
            s.plates = {{.upper = upper, .place = upper ? 0.8 : 0.4, .velocity = {upper ? -2.0 : 2.0, 0, 0}}};
            s.end = 0.13;
            const Ended end = run(settled(s));
            const double face = upper ? 0.8 - 0.26 : 0.4 + 0.26;
            for (const auto& [id, p] : end.points) CHECK((upper ? face - p[0] : p[0] - face) > -0.02);
            CHECK((upper ? -1 : 1) * end.momentum[0] > 0.9 * kDensity * 0.2 * 0.01 * 2);
        }
}

TEST_CASE("a plate holds the grid points that are in it: with B-splines those in the middle of cells") {
    const auto meet = [](const std::string& shape, double face) {
        Settings s = block(shape, {20, 5, 5});
        move(s, {{5, 0, 0}});
        s.plates = {{.place = face, .kind = Wall::fixed}};
        return run(settled(s), 30);
    };
    const std::pair<const char*, double> grid[] = {{"quadratic", 1.0299}, {"gimp", 1.0399}};
    for (const auto& [shape, last] : grid) {
        const bool middle = std::string(shape) == "quadratic";
        INFO(shape);
        CHECK(same_bits(meet(shape, middle ? 1.0101 : 1.0201), meet(shape, last)));
        CHECK_FALSE(same_bits(meet(shape, middle ? 1.0301 : 1.0401), meet(shape, last)));
    }
}

TEST_CASE(
    "a wall that moves along itself takes a block along: rho c A V of momentum a second, c^2 = mu / rho") {
    for (const char* const shape : {"linear", "quadratic", "gimp"}) {
        INFO(shape);
        const Ended end = run(sheared(shape, {4, 20, 4}));
        const double c = std::sqrt(kMu / kDensity);
        CHECK(c * end.time < 1.1);
        CHECK(std::abs(end.momentum[0] / (kDensity * c * 0.01 * 0.2 * end.time) - 1) < 0.03);
        CHECK(same_bits(end, run(sheared(shape, {4, 60, 4}))));
        CHECK(same_bits(end, run(sheared(shape, {2, 7, 2}))));
    }
}

TEST_CASE("a block that moves along with its wall goes on as it did") {
    for (const char* const shape : {"linear", "quadratic", "gimp"}) {
        INFO(shape);
        const Ended end = run(sheared(shape, {4, 20, 4}, 0.2));
        CHECK(end.strain < 1e-12 * end.kinetic);
        CHECK(std::abs(end.momentum[0] / (kDensity * 0.1 * 1.2 * 0.1 * 0.2) - 1) < 1e-12);
    }
}

TEST_CASE("on a floor with friction a block slides with g (sin a - f cos a), and leaves it when thrown up") {
    const auto slide = [](bool plate, double up) {
        Settings s;
        s.cells = {40, 20, 1}, s.patch_cells = {10, 10, 1}, s.size = {2, 1, 0.05};
        s.shape = plate ? "quadratic" : "linear";
        s.walls = {wall("y-min", plate ? Wall::symmetry : Wall::friction)};
        if (plate) s.plates = {{.axis = 1, .upper = false, .place = 0.1, .kind = Wall::friction}};
        const double floor = plate ? 0.1 : 0;
        s.given_materials = {elastic(Law::neo_hookean, kDensity, kYoung, kPoisson)};
        s.bodies = {box({0.2, floor, 0}, {0.6, floor + 0.2, 0.05})};
        s.per_cell = {2, 2, 1};
        move(s, {{0, up, 0}});
        s.gravity = {5, -8, 0}, s.friction = 0.4;
        s.end = 0.4;
        return run(settled(s));
    };
    const double mass = kDensity * 0.4 * 0.2 * 0.05;
    for (const bool plate : {false, true}) {
        INFO(plate);
        CHECK(std::abs(slide(plate, 0).momentum[0] / (mass * (5 - 0.4 * 8) * 0.4) - 1) < 0.02);
        const Ended thrown = slide(plate, 2);
        CHECK(std::abs(thrown.momentum[0] / (mass * 5 * 0.4) - 1) < 0.01);
        CHECK(std::abs(thrown.momentum[1] / (mass * (2 - 8 * 0.4)) - 1) < 0.01);
    }
}

TEST_CASE("each side of a direction has the wall that it is given, and both have that of the direction") {
    // A block that moves along its walls: from each that holds it a wave of shear goes inwards, which takes
    // rho c A V of momentum a second.
    const auto lost = [](std::vector<GivenWall> walls) {
        Settings s = block("linear", {2, 20, 1});
        s.cells = {2, 60, 1}, s.size = {0.04, 1.2, 0.02}, s.bodies = {box({0, 0, 0}, {0.04, 1.2, 0.02})};
        s.given_materials[0].law = Law::linear, move(s, {{0.2, 0, 0}}), s.walls = std::move(walls);
        const Ended end = run(settled(s));
        const double c = std::sqrt(kMu / kDensity), area = 0.04 * 0.02;
        REQUIRE(c * end.time < 0.5);  // waves have not met
        return (kDensity * area * 1.2 * 0.2 - end.momentum[0]) / (kDensity * c * area * 0.2 * end.time);
    };
    CHECK(std::abs(lost({wall("x", Wall::periodic), wall("y-min", Wall::fixed)}) - 1) < 0.05);
    CHECK(std::abs(lost({wall("x", Wall::periodic), wall("y-max", Wall::fixed)}) - 1) < 0.05);
    CHECK(std::abs(lost({wall("x", Wall::periodic), wall("y", Wall::fixed)}) - 2) < 0.1);
    CHECK(std::abs(lost({wall("x", Wall::periodic)})) < 1e-9);
}

TEST_CASE("walls and plates that cannot be are refused") {
    Settings s = block("linear", {20, 5, 5});
    s.walls = {wall("x-min", Wall::periodic), wall("x-max", Wall::fixed)};
    CHECK(refusal(s).find("periodic") != std::string::npos);
    s.walls = {wall("y", Wall::fixed), wall("y-max", Wall::friction)};
    CHECK(refusal(s).find("two walls") != std::string::npos);
    s = block("linear", {20, 5, 5});
    s.walls = {wall("x-min", Wall::fixed, {1, 0, 0})};
    CHECK(refusal(s).find("along themselves") != std::string::npos);
    s.walls = {wall("x-min", Wall::symmetry, {0, 1, 0})};
    CHECK(refusal(s).find("does not feel") != std::string::npos);
    s = block("quadratic", {20, 5, 5});
    s.walls = {wall("x", Wall::friction)};
    CHECK(refusal(s).find("before a wall") != std::string::npos);
}

TEST_CASE("what has no particle and what no body meets is refused with its name") {
    const auto says = [](const Settings& s, const std::string& what) {
        INFO(refusal(s));
        return refusal(s).find(what) != std::string::npos;
    };
    // Particles are 0.01 m apart, in their middles 0.005 m from sides of cells.
    const Settings whole = block("linear", {20, 5, 5});
    for (const char* edges : {"whole", "cut"}) {
        Settings s = whole;
        s.edges = edges;
        s.bodies = {box({0, 0, 0}, {1, 0.1, 0.1}), box({1.1001, 0, 0}, {1.1003, 0.1, 0.1})};
        CHECK(says(s, "no particle is in the body: a box, 0.0002 x 0.1 x 0.1 m large"));
        // Without the middle of a particle, but with a part of it.
        s.bodies[1] = box({1.1, 0, 0}, {1.1045, 0.1, 0.1});
        CHECK(
            (s.edges == "cut" ? refusal(s).empty() : says(s, "no particle is in the body: a box, 0.0045 ")));
        s.bodies[1] = sphere({1.1, 0.05, 0.05}, 0.0001);
        CHECK(says(s,
                   "no particle is in the body: a sphere, 0.0002 x 0.0002 x 0.0002 m large; "
                   "particles are 0.01 x 0.01 x 0.01 m apart"));
        s.bodies[1] = box({0.2, 0, 0}, {0.4, 0.1, 0.1});  // within the one before it
        CHECK(says(s, "no particle is in the body: a box, 0.2 "));
        s.bodies[0] = sphere({0.5, 0.05, 0.05}, 0.03), s.bodies[1] = box({0, 0, 0}, {1, 0.1, 0.1});
        s.bodies[0].hole = true;
        CHECK(refusal(s).empty());
        for (const auto& [x, radius] : {std::pair{0.5, 0.0001}, {1.15, 0.03}}) {
            s.bodies[0].centre[0] = x, s.bodies[0].radius = radius;
            CHECK(says(s, "no particle is in the hole: a sphere"));
        }
    }
    Settings s = whole;
    s.surfaces = {{.a = {1, 0, 0}, .b = {1, 0.1, 0.1}, .pressure = 1}};
    CHECK(refusal(s).empty());
    s.surfaces[0].a[0] = s.surfaces[0].b[0] = 1.1;
    CHECK(says(s, "the surface lies on no body"));
    s = whole;
    s.plates = {{.place = 1.3, .velocity = {0.5, 0, 0}}};
    CHECK(says(s, "the plate is outside of the domain"));
    s.plates[0].velocity = {-10, 0, 0};  // 0.2 m until the end
    CHECK(refusal(s).empty());
    s = whole;
    s.bodies = {sphere({0.5, 0.04, 0.04}, 0.03)}, s.pull = 1;
    s.per_cell = {4, 1, 1};
    CHECK(says(s, "has no particle at its"));
}
