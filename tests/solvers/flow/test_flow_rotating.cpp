// Flow in a frame that turns, as a whole on one process: fluid at rest and along the axis, in a rotor's
// sector too; flow between cylinders seen from both frames; what is said of rotors; refusals.
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "solvers/flow/boundary/invariants.hpp"
#include "solvers/flow/output/rotor.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/flow/flow_runs.hpp"

using namespace strata;
using namespace strata::flow;

namespace {

struct Ran : tests::FlowRan {
    std::vector<double> probes;
};

Ran run(const Settings& s, std::int64_t steps) {
    Ran ran;
    const Flow* flow = nullptr;
    static_cast<tests::FlowRan&>(ran) =
        tests::run_flow(s, steps,
                        {.threads = 1,
                         .declare = [&](graph::Graph&, const Flow& of) { flow = &of; },
                         .end =
                             [&](const graph::Simulation& simulation) {
                                 for (const auto& probe : flow->shown.probes)
                                     ran.probes.push_back(simulation.value(probe));
                             }});
    return ran;
}

/// With the far field at rest, or along the axis.
void turn(Settings& s, double along) {
    s.frame.rotation_rate = -0.4;
    s.reference.mach = 0.3;
    s.flow.mach = along;
    s.flow.alpha = 90, s.flow.up = "z";
    s.verify.uniform = 1;
}

/// Wavy cells in zones that lie in any way to each other, away from the axis.
Settings brick(const std::string& equations) {
    Settings s;
    s.grid.kind = "brick";
    s.grid.cells = {12, 8, 8}, s.grid.patch = {6, 4, 4};
    s.grid.zones = {2, 2, 1}, s.grid.turned = true, s.grid.wave = 0.03;
    s.flow.equations = equations, s.flow.reynolds = 300;
    s.frame.centre = {-0.5, 1.5, 0};
    tests::all_sides(s, "", 3, "far-field");
    return s;
}

/// A third of an annulus, joined with itself.
Settings sector() {
    Settings s;
    s.grid.kind = "sector", s.grid.turn = 120, s.grid.turn_axis = "z";
    s.grid.cells = {10, 12, 12}, s.grid.patch = {5, 6, 6};
    s.grid.first = 0.3, s.grid.core = {1.2, -0.5, 0.5}, s.grid.own.of<SectorGrid>().hub = 0.3,
    s.grid.farfield = 4;
    s.grid.low = {-4}, s.grid.high = {4};
    s.boundaries["hub"].kind = "slip-wall";
    for (const char* side : {"farfield", "below", "above"}) s.boundaries[side].kind = "far-field";
    return s;
}

/// Between a cylinder of radius 1/2 that turns and one of radius 1 that stands still.
Settings couette(int around, bool frame_turns) {
    Settings s;
    const double rate = 0.2;
    s.grid.kind = "cylinder", s.grid.cells = {around, around / 3}, s.grid.patch = {around / 2, around / 3, 1};
    s.grid.farfield = 1, s.grid.first = 0.5 / (around / 3);
    s.flow.equations = "laminar", s.flow.mach = 0, s.flow.reynolds = 50;
    s.reference.mach = 0.1;
    if (frame_turns)
        s.frame.rotation_rate = rate;
    else
        s.boundaries["wall"].rotation = {rate};
    s.boundaries["wall"].kind = "wall";
    s.boundaries["farfield"].kind = "wall";
    s.boundaries["farfield"].rotation = {0}, s.boundaries["farfield"].temperature = 1;
    s.time.cfl = 20, s.time.cfl_start = 2, s.time.ramp = 20;
    s.output.probes = {0.0, 0.75, 0.53, -0.53};
    return s;
}

/// The speed around the axis at the two probes.
std::vector<double> around_at(const Ran& ran) {
    return {-ran.probes[1], (0.53 * ran.probes[5] + 0.53 * ran.probes[6]) / std::hypot(0.53, 0.53)};
}

}  // namespace

TEST_CASE("in a frame that turns a fluid at rest stays, and so does one along the axis") {
    for (const double along : {0.0, 0.6})
        for (const std::string equations : {"euler", "laminar"}) {
            CAPTURE(along, equations);
            Settings s = brick(equations);
            turn(s, along);
            const Ran ran = run(s, 15);
            CHECK(ran.departure < 1e-12);
            CHECK(ran.departure > 0);
            CHECK(ran.failures == 0);
        }
    SECTION("in a sector that is joined with itself") {
        for (const double along : {0.0, 0.6}) {
            Settings s = sector();
            turn(s, along);
            CHECK(run(s, 15).departure < 1e-12);
        }
    }
    SECTION("with cycles over coarser grids") {
        Settings s = brick("laminar");
        turn(s, 0.6);
        s.grid.zones = {1, 1, 1}, s.grid.patch = {12, 8, 8};
        s.time.multigrid = 3;
        CHECK(run(s, 4).departure < 1e-12);
    }
}

TEST_CASE("flow between cylinders is the same from the frame at rest and from one that turns") {
    std::vector<double> apart, off;
    for (const int around : {24, 48}) {
        const Ran rest = run(couette(around, false), 800), turning = run(couette(around, true), 800);
        CHECK(rest.residual < 1e-3 * rest.largest);
        CHECK(turning.residual < 1e-3 * turning.largest);
        const std::vector<double> a = around_at(rest), b = around_at(turning);
        double between = 0, error = 0;
        for (std::size_t n = 0; n < 2; ++n) {
            const double r = n == 0 ? 0.75 : std::hypot(0.53, 0.53);
            const double exact = 0.2 * 0.25 / 0.75 * (1 / r - r);
            between = std::max(between, std::abs(a[n] - b[n]) / exact);
            error = std::max(error, std::abs(b[n] - exact) / exact);
        }
        apart.push_back(between), off.push_back(error);
    }
    CAPTURE(apart[0], apart[1], off[0], off[1]);
    CHECK(apart[1] < 3e-4);
    CHECK(apart[1] < 0.25 * apart[0]);
    CHECK(off[1] < 2e-3);
    CHECK(off[1] < 0.25 * off[0]);
}

TEST_CASE("averaged flow between cylinders is the same from the frame at rest and from one that turns") {
    const auto ran = [](int around, bool frame_turns, bool averaged) {
        Settings s = couette(around, frame_turns);
        s.flow.reynolds = 5000;
        s.time.cfl = 500, s.time.ramp = 50;
        if (averaged) s.flow.equations = "rans", s.flow.model = "sst";
        s.flow.k = 1e-3, s.flow.omega = 1e-4;
        return around_at(run(s, 3000));
    };
    std::vector<double> apart, speed;
    for (const int around : {24, 48}) {
        const std::vector<double> rest = ran(around, false, true), turning = ran(around, true, true);
        double between = 0;
        for (std::size_t n = 0; n < 2; ++n) between = std::max(between, std::abs(rest[n] / turning[n] - 1));
        apart.push_back(between), speed.push_back(turning[0]);
    }
    const double laminar = ran(24, true, false)[0];
    CAPTURE(apart[0], apart[1], speed[0], laminar);
    CHECK(apart[1] < 0.03);
    CHECK(apart[1] < 0.5 * apart[0]);
    CHECK(std::abs(speed[0] / laminar - 1) > 0.1);  // eddies count
}

TEST_CASE("thrust, power and section lift are those of a known pressure") {
    // Two of four plates of one chord from r = 1 to 2, of thickness 0, that the pressure lifts by Cl rho
    // (rate r)^2 / 2, and pushes back by a tenth of it: the integrals are known.
    const double rate = -0.5, lift = 0.4;
    const Rotor rotor{.axis = 0, .rate = rate, .radius = 2, .sectors = 4, .stations = {0.75, 0.25}};
    WallSums sums{};
    WallExtremes extremes{};
    StationSums stations{};
    const int n = 1000;
    for (int k = 0; k < n; ++k)
        for (const double side : {1.0, -1.0}) {
            // Along y; the rotor's axis is x, so the blade moves along -z, rate x r.
            const double r = 1 + (k + 0.5) / n;
            WallPoint point;
            point.centre = {0, r, 0};
            point.area = {side / n, 0, side * 0.1 / n};
            point.pressure = 1 / 1.4 + side * 0.25 * lift * rate * rate * r * r;
            add_point(point, 1 / 1.4, false, sums, extremes);
            add_station(point, 1 / 1.4, rotor, stations);
        }
    const RotorCoefficients all = rotor_coefficients(sums, rotor);
    const double unit = std::numbers::pi * 4;
    CHECK(all.thrust == Approx(4 * 0.5 * lift * (7.0 / 3) / 4 / unit).epsilon(1e-5));
    CHECK(all.power == Approx(0.1 * 4 * 0.5 * lift * (15.0 / 4) / 4 / (2 * unit)).epsilon(1e-5));
    CHECK(all.merit == Approx(std::pow(all.thrust, 1.5) / std::sqrt(2.0) / all.power));
    CHECK(section_lift(stations, 0) == Approx(lift).epsilon(1e-10));
    CHECK(section_lift(stations, 1) == 0);
}

TEST_CASE("sections of a coarse blade are between those of its faces") {
    // Five faces a chord's side wide 0.4 each, three along the chord; lift and its unit are those of the
    // parts within a radius's 0.02 on either side of a station.
    const Rotor rotor{.axis = 2, .rate = 1, .radius = 10, .stations = {0.3, 0.32, 0.9}};
    StationSums stations{};
    const auto lift_at = [](int face) { return 0.1 * (face + 1); };
    for (int face = 0; face < 5; ++face)
        for (int along = 0; along < 3; ++along)
            for (const double side : {1.0, -1.0}) {
                WallPoint point;
                point.centre = {2.4 + 0.4 * face, 0.01 * along, 0};
                point.area = {0, 0, side * 0.4 / 3};
                point.edges = {Real3{0.4, 0, 0}, Real3{0, 1.0 / 3, 0}};
                const double r = std::hypot(point.centre[0], point.centre[1]);
                point.pressure = 1 / 1.4 + side * 0.25 * lift_at(face) * r * r;
                add_station(point, 1 / 1.4, rotor, stations);
            }
    // From 2.8 to 3.2: 2.6 to 3.0 and 3.0 to 3.4 by halves; the faster one counts more.
    const double inner = 2.8 * 2.8, outer = 3.2 * 3.2;
    CHECK(section_lift(stations, 0) == Approx((0.2 * inner + 0.3 * outer) / (inner + outer)).epsilon(1e-3));
    CHECK(section_lift(stations, 1) == Approx(0.3).epsilon(1e-3));
    CHECK(section_lift(stations, 2) == 0);
}

TEST_CASE("as much fluid comes to a rotor in hover as its wake takes away") {
    const HoverFlow hover{.axis = {0, 0, 1}, .centre = {0, 0, 0.5}, .radius = 2, .w = 0.03};
    const auto at = [&](const graph::Real3& x) { return hover_velocity(hover, x); };
    CHECK(at({0, 0, 8.5})[2] == Approx(-0.25 * 0.03 * 4 / 64.0));
    CHECK(at({8, 0, 0.5})[0] == Approx(-0.25 * 0.03 * 4 / 64.0));
    CHECK(at({1, 0.9, -7.5}) == graph::Real3{0, 0, -0.06});
    CHECK(at({1, 1.1, -7.5})[2] > 0);
    // Through a cylinder of radius and half height 40, rings of equal area.
    const double size = 40, pi = std::numbers::pi;
    double out = 0;
    const int n = 40000;
    for (int m = 0; m < n; ++m) {
        const double r = size * std::sqrt((m + 0.5) / n), ring = pi * size * size / n;
        out += ring * (at({r, 0, 0.5 + size})[2] - at({0, r, 0.5 - size})[2]);
        const double z = 0.5 + size * (2 * (m + 0.5) / n - 1);
        out += 2 * pi * size * (2 * size / n) * at({size, 0, z})[0];
    }
    const double wake = 2 * 0.03 * pi * 2;  // that of a circle of area pi R^2 / 2
    CHECK(std::abs(out) < 2e-3 * wake);
}

TEST_CASE("what a frame that turns cannot have is refused") {
    const auto refusal = [](Settings s) {
        try {
            (void)run(std::move(s), 1);
        } catch (const Error& error) {
            return std::string(error.text());
        }
        return std::string("nothing");
    };
    const auto refused = [&](const auto& change, const std::string& word) {
        Settings s = sector();
        turn(s, 0);
        change(s);
        const std::string text = refusal(s);
        CAPTURE(word, text);
        CHECK(text.find(word) != std::string::npos);
    };
    refused([](Settings& s) { s.flow.mach = 0.1, s.flow.alpha = 3; }, "flow.alpha");
    refused([](Settings& s) { s.reference.mach = 0; }, "flow.mach");
    refused([](Settings& s) { s.frame.tip_mach = 0.4; }, "frame.tip_mach");
    refused([](Settings& s) { s.frame.rotation_rate = 0, s.frame.tip_mach = 0.4; }, "frame.radius");
    refused([](Settings& s) { s.frame.axis = "x"; }, "grid.turn_axis");
    refused([](Settings& s) { s.frame.centre = {0, 1, 0}; }, "frame.centre");
    refused([](Settings& s) { s.output.stations = {0.5}; }, "output.stations");
    const auto at_station = [](double station) {
        return [station](Settings& s) { s.frame.radius = 1, s.output.stations = {station}; };
    };
    refused(at_station(0.5), "no blade is at 0.5 of the radius");  // the hub's radius is 0.3
    refused(at_station(0.3), "nothing");
    refused([](Settings& s) { s.verify.thrust = {0, 1}; }, "verify.thrust");
    refused([](Settings& s) { s.output.slices = {"azimuth = 100"}; },
            "-60 to 60 degrees, where the grid's sector lies; the flow at 100 is that at -20, turned");
    refused([](Settings& s) { s.output.slices = {"z = -4.5"}; }, "-4 to 4, where the grid lies");
    refused([](Settings& s) { s.boundaries["above"].hover_thrust = 0.01; }, "boundary.above.hover_thrust");
    refused([](Settings& s) { s.boundaries["above"].rotation = {0}; }, "boundary.above.rotation");
    refused([](Settings& s) { s.boundaries["hub"].rotation = {0}; }, "boundary.hub.rotation");
    refused(
        [](Settings& s) {
            s.boundaries["above"].kind = "total-inflow", s.boundaries["above"].direction = {0.1, 0, -1};
        },
        "boundary.above.direction");
    refused([](Settings& s) { s.grid.core = {1}; }, "grid.core");
    refused([](Settings& s) { s.grid.own.of<SectorGrid>().hub = 3; }, "hub");
    refused([](Settings& s) { s.flow.initial = "vortex", s.verify.error = 1; }, "frame.rotation_rate = 0");
    Settings plane = couette(24, true);
    plane.frame.axis = "y";
    CHECK(refusal(plane).find("frame.axis") != std::string::npos);
    Settings wall = couette(24, false);
    wall.frame.axis = "y";
    CHECK(refusal(wall).find("frame.axis") != std::string::npos);
    wall.flow.axisymmetric = true;
    CHECK(refusal(wall).find(".rotation") != std::string::npos);
    Settings shifted = brick("euler");
    turn(shifted, 0);
    shifted.grid.zones = {1, 1, 1}, shifted.grid.turned = false, shifted.grid.periodic = {1};
    shifted.boundaries.erase("x-min"), shifted.boundaries.erase("x-max");
    CHECK(refusal(shifted).find("frame.rotation_rate") != std::string::npos);
}
