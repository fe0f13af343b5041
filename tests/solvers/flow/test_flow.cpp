// Compressible flow as a whole, on one process: uniform flow stays, a vortex is carried with second order,
// zones and coarser grids change nothing that is converged, steps that fail are repeated.
#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/flow/flow_runs.hpp"

using namespace strata;
using namespace strata::flow;

namespace {

using Ran = tests::FlowRan;
Ran run(const Settings& s, std::int64_t steps, int threads = 2) {
    return tests::run_flow(s, steps, {.threads = threads});
}

/// A box of wavy cells in 2 x 2 (x 2) zones, of which each second one is turned, with the far field all
/// around.
Settings uniform(int dimensions, const std::string& equations) {
    Settings s;
    s.grid.kind = "brick";
    s.grid.cells = dimensions == 2 ? std::vector<std::int64_t>{20, 16} : std::vector<std::int64_t>{12, 10, 8};
    s.grid.patch = {5, 4, 3};
    s.grid.zones = dimensions == 2 ? std::vector<std::int64_t>{2, 2} : std::vector<std::int64_t>{2, 2, 2};
    s.grid.turned = true;
    s.grid.wave = 0.03;
    s.flow.equations = equations;
    s.flow.mach = 0.6, s.flow.alpha = 17, s.flow.beta = dimensions == 3 ? 11 : 0;
    s.flow.reynolds = 300;
    tests::all_sides(s, "", dimensions, "far-field");
    s.verify.uniform = 1;
    return s;
}

Settings vortex(int n, double step) {
    Settings s = tests::vortex_in_square(n, step);
    s.grid.patch = {16, 8}, s.grid.zones = {2, 2};
    s.flow.alpha = 30;
    return s;
}

}  // namespace

TEST_CASE("uniform flow stays to rounding on wavy zones that lie in any way to each other") {
    for (const int dimensions : {2, 3})
        for (const std::string equations : {"euler", "laminar"}) {
            CAPTURE(dimensions, equations);
            const Ran ran = run(uniform(dimensions, equations), 20);
            CHECK(ran.departure < 1e-12);
            CHECK(ran.departure > 0);
            CHECK(ran.failures == 0);
        }
}

TEST_CASE("a vortex is carried with second order in space and time") {
    // Over the same time: half the cell width with half the step.
    const double coarse = run(vortex(32, 0.1), 10).error, fine = run(vortex(64, 0.05), 20).error;
    CAPTURE(coarse, fine);
    CHECK(coarse < 2e-3);
    CHECK(std::log2(coarse / fine) > 1.9);
}

TEST_CASE("converged time steps are the same on one zone and on several") {
    Settings one = vortex(32, 0.1), several = one;
    several.grid.zones = {4, 2};
    one.grid.zones = {1, 1};
    one.time.drop = several.time.drop = 1e-10;
    one.time.subiterations = several.time.subiterations = 400;
    const double a = run(one, 2).error, b = run(several, 2).error;
    CAPTURE(a, b);
    CHECK(std::abs(a - b) < 1e-8 * a);
}

TEST_CASE("a step that would spoil the flow is not made, and repeated smaller") {
    // A shock tube whose pressures are far apart, at once with a Courant number that is far too large.
    Settings s;
    s.grid.kind = "tube", s.grid.cells = {60}, s.grid.patch = {20, 1, 1};
    s.flow.initial = "shock tube";
    s.initial.left = {1, 0, 10}, s.initial.right = {1, 0, 1};
    s.numerics.limiter = "minmod", s.numerics.kappa = 0;
    s.time.cfl = s.time.cfl_start = 100, s.time.most_change = 0.1;
    for (const char* side : {"left", "right"}) s.boundaries[side].kind = "supersonic-outflow";
    s.boundaries["side"].kind = "symmetry";
    const Ran ran = run(s, 40);
    CHECK(ran.failures > 0);
    CHECK(ran.failures < 40);
    CHECK(std::isfinite(ran.residual));
    SECTION("where nothing helps the run ends and says so") {
        s.time.most_change = 1e-7;
        try {
            (void)run(s, 100);
            FAIL("it ran");
        } catch (const Error& error) {
            const std::string text = error.text();
            CHECK(text.find("the flow diverges") != std::string::npos);
            CHECK(text.find("Try a smaller time.cfl (now 100)") != std::string::npos);
            // Where the states meet, in the middle of the tube.
            const std::regex place("worst is the cell at \\((0\\.[45][0-9]*), ");
            CHECK(std::regex_search(text, place));
        }
    }
}

TEST_CASE("a flow that began on coarser grids ends as one that did not") {
    Settings s;
    s.grid.kind = "cylinder", s.grid.cells = {32, 24}, s.grid.patch = {16, 8};
    s.grid.first = 0.05, s.grid.farfield = 10;
    s.flow.equations = "laminar", s.flow.mach = 0.3, s.flow.reynolds = 20;
    s.time.cfl = 50, s.time.cfl_start = 5, s.time.ramp = 20;
    s.boundaries["wall"].kind = "wall", s.boundaries["farfield"].kind = "far-field";
    s.time.iterations = 2000;
    const Ran alone = run(s, 2000);
    s.time.sequence = {300, 200};
    const Ran after = run(s, 2500);
    CAPTURE(alone.drag, after.drag, alone.residual, after.residual);
    CHECK(alone.drag > 1.5);
    CHECK(std::abs(after.drag - alone.drag) < 1e-5 * alone.drag);
    CHECK(after.largest < alone.largest);  // of the finest grid, which begins with less to do
}

TEST_CASE("lines of a zone that is cut on the way out go on as they began at its wall") {
    Settings s = uniform(3, "laminar");
    s.grid.zones = {}, s.grid.turned = false, s.grid.zone = {0, 0, 4};
    s.boundaries["z-min"].kind = "wall", s.boundaries["z-min"].velocity = {0.5, 0.1, 0};
    (void)tests::run_flow(s, 1, {.declare = [](graph::Graph&, const Flow& flow) {
                              REQUIRE(flow.grid().zones().zones() == 2);
                              for (const int zone : {0, 1}) CHECK(flow.grid().line_axis(zone) == 2);
                          }});
}

TEST_CASE("what does not fit is refused with the key") {
    const auto refusal = [](Settings s) {
        try {
            (void)run(std::move(s), 1);
        } catch (const Error& error) {
            return std::string(error.text());
        }
        return std::string("nothing");
    };
    const auto has = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    Settings s = uniform(2, "euler");
    s.boundaries.erase("x-max"), s.boundaries.erase("y-min");
    CHECK(has(refusal(s), "the case says nothing of 2 boundaries of its grid"));
    CHECK(has(refusal(s), "\n[boundary.y-min]   # j-min of zone 1"));
    CHECK(has(refusal(s), "\nkind = \"far-field\"\n"));
    s = uniform(2, "euler");
    s.boundaries["lid"].kind = "far-field", s.boundaries["the \"roof\""].kind = "far-field";
    CHECK(has(refusal(s), R"(the grid has no boundary for [boundary.lid], [boundary."the \"roof\""])"));
    s = uniform(2, "euler");
    s.boundaries["x-max"].kind = "wall";
    CHECK(has(refusal(s), "does not stick to walls"));
    s = uniform(2, "euler");
    s.grid.cells = {20, 16}, s.time.sequence = {10}, s.grid.patch = {5, 4};
    CHECK(has(refusal(s), "multiples of 2"));
    s = uniform(2, "euler");
    s.grid.cells = {20};
    CHECK(has(refusal(s), "grid.cells"));
    s = vortex(16, 0);
    CHECK(has(refusal(s), "time.step"));
    s = uniform(2, "euler");
    s.output.surface = 5;
    CHECK(has(refusal(s), "output.surface"));
    s.output.surface = 0, s.verify.lift = {0, 1};
    CHECK(has(refusal(s), "the case has no walls on which a force acts"));
    s.boundaries["x-max"].kind = "slip-wall";
    CHECK(refusal(s) == "nothing");
    s = uniform(2, "euler");
    s.flow.initial = "shock tube", s.initial.place = 1.5;
    CHECK(has(refusal(s), "the grid has nothing of the shock tube"));
    CHECK(has(refusal(s), "x 0 to 1"));
    s.initial.place = 0.5;
    CHECK(refusal(s) == "nothing");
    s.flow.initial = "vortex", s.initial.centre = {30, 0};
    CHECK(has(refusal(s), "the grid has nothing of the vortex"));
}
