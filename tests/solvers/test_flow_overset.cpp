// Flow on meshes that overlap: uniform flow stays, a vortex crosses an overlap with second order, a cylinder
// has the drag that it has on one zone; what cases may not say.
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "solvers/flow/tasks.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::flow;

namespace {

struct Ran {
    double departure = 0, error = 0, residual = 0, failures = 0, drag = 0;
    std::int64_t orphans = 0, receptors = 0;
};

Ran run(Settings s, std::int64_t steps) {
    graph::CaseSchema keys = schema(s);
    check(s, keys);
    graph::Graph graph("flow");
    const auto flow = declare(graph, s, keys);
    graph::Simulation simulation(graph, graph::Members::alone(), {.threads = 2});
    simulation.start();
    simulation.advance(steps);
    const Labels& l = flow->finest();
    const Report& r = flow->report;
    Ran ran;
    ran.residual = simulation.value(r.residual), ran.failures = simulation.value(r.failures);
    ran.drag = simulation.value(r.drag);
    if (s.verify.uniform > 0) ran.departure = simulation.value(l.departure);
    if (s.verify.error > 0)
        ran.error = std::sqrt(simulation.value(l.squared_error) / simulation.value(l.volume));
    if (l.overset != nullptr) {
        const auto counts = simulation.numbers(l.overset->found->counts);
        for (std::size_t n = 0; n < counts.size(); n += overset::kCounts) {
            ran.orphans += counts[n + overset::kOrphans];
            ran.receptors += counts[n + overset::kReceptors];
        }
    }
    return ran;
}

void outer(Settings& s, const std::string& mesh, int dimensions, const std::string& kind) {
    for (const char* side : {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"})
        if (dimensions == 3 || side[0] != 'z') s.boundaries[mesh + "-" + side].kind = kind;
}

GridKeys brick(const std::string& mesh, const std::vector<std::int64_t>& cells,
               const std::vector<double>& low, const std::vector<double>& high, double wave) {
    GridKeys g;
    g.section = "mesh." + mesh;
    g.kind = "brick", g.cells = cells, g.low = low, g.high = high, g.wave = wave;
    g.patch = {10, 8, 6};
    return g;
}

/// A finer wavy box in a wavy box.
Settings uniform(int dimensions, const std::string& equations) {
    Settings s;
    const bool flat = dimensions == 2;
    s.meshes["a"].grid = flat ? brick("a", {24, 20}, {0, 0}, {1, 1}, 0.02)
                              : brick("a", {14, 13, 12}, {0, 0, 0}, {1, 1, 1}, 0.02);
    s.meshes["b"].grid = flat ? brick("b", {20, 18}, {0.31, 0.28}, {0.72, 0.7}, 0.03)
                              : brick("b", {12, 12, 12}, {0.21, 0.24, 0.23}, {0.8, 0.78, 0.79}, 0.02);
    s.flow.equations = equations;
    s.flow.mach = 0.6, s.flow.alpha = 17, s.flow.beta = flat ? 0 : 11;
    s.flow.reynolds = 300;
    outer(s, "a", dimensions, "far-field");
    outer(s, "b", dimensions, "overset");
    s.verify.uniform = 1;
    return s;
}

/// A vortex in a periodic square with a finer wavy mesh in its way.
Settings vortex(int n, double step) {
    Settings s;
    s.meshes["a"].grid = brick("a", {n, n}, {-5, -5}, {5, 5}, 0.02);
    s.meshes["a"].grid.periodic = {1, 2};
    s.meshes["b"].grid = brick("b", {n / 2, n / 2}, {-1.1, -2.2}, {3, 1.9}, 0.02);
    outer(s, "b", 2, "overset");
    s.flow.mach = 0.5;
    s.flow.initial = "vortex", s.initial.strength = 2, s.initial.centre = {-1.5, 0};
    s.time.kind = "unsteady", s.time.step = step, s.time.end = 100;
    s.time.cfl = s.time.cfl_start = 1000, s.time.subiterations = 60, s.time.drop = 1e-5;
    s.verify.error = 1;
    return s;
}

std::string refused(const Settings& s) {
    try {
        (void)run(s, 1);
    } catch (const Error& error) {
        return error.text();
    }
    return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("uniform flow stays to rounding on meshes that overlap") {
    for (const int dimensions : {2, 3})
        for (const std::string equations : {"euler", "laminar"}) {
            CAPTURE(dimensions, equations);
            const Ran ran = run(uniform(dimensions, equations), 20);
            CHECK(ran.departure < 1e-12);
            CHECK(ran.departure > 0);
            CHECK(ran.failures == 0);
            CHECK(ran.orphans == 0);
            CHECK(ran.receptors > 0);
        }
}

TEST_CASE("a vortex crosses an overlap with second order") {
    // From the coarse mesh into the fine one: half the cell width with half the step.
    const double coarse = run(vortex(32, 0.1), 20).error, fine = run(vortex(64, 0.05), 40).error;
    CAPTURE(coarse, fine);
    CHECK(coarse < 4e-3);
    CHECK(std::log2(coarse / fine) > 1.8);
}

TEST_CASE("cases say which meshes overlap, and errors name the key") {
    Settings s = uniform(2, "euler");
    SECTION("one mesh") {
        s.meshes.erase("b");
        CHECK(has(refused(s), "mesh.a.kind"));
    }
    SECTION("a grid beside meshes") {
        s.grid.kind = "brick";
        CHECK(has(refused(s), "grid.kind"));
    }
    SECTION("coarser meshes by the key of a single grid") {
        s.grid.coarsen = 1;
        CHECK(has(refused(s), "grid.coarsen"));
    }
    SECTION("a turn by the key of a single grid, and of a mesh that is made") {
        s.grid.turn = 90;
        CHECK(has(refused(s), "grid.turn"));
        s.grid.turn = 0, s.meshes["a"].grid.turn = 90;
        CHECK(has(refused(s), "mesh.a.turn"));
    }
    SECTION("cycles over coarser grids") {
        s.time.multigrid = 2;
        CHECK(has(refused(s), "time.multigrid"));
    }
    SECTION("coarser grids first") {
        s.time.sequence = {10};
        CHECK(has(refused(s), "time.sequence"));
    }
    SECTION("a mesh on one that is not there") {
        s.meshes["a"].on = "c";
        CHECK(has(refused(s), "mesh.a.on"));
    }
    SECTION("a mesh on another one that cuts holes") {
        s.meshes["b"].on = "a";
        CHECK(has(refused(s), "mesh.b.cuts"));
        s.meshes["b"].cuts = false;
        CHECK(refused(s).empty());
    }
    SECTION("nothing overlaps a single grid") {
        Settings one;
        one.grid = s.meshes["a"].grid;
        one.grid.section = "grid";
        for (const char* side : {"x-min", "x-max", "y-min", "y-max"}) one.boundaries[side].kind = "overset";
        CHECK(has(refused(one), "a case with one grid has nothing that overlaps"));
    }
    SECTION("cells without donors end the run, with zone and cell") {
        // A part of b lies beyond a, where its fringe has no donor.
        s.meshes["b"].grid.low = {0.31, -0.2};
        const std::string text = refused(s);
        CHECK(has(text, "cells have no donor"));
        CHECK(has(text, "in zone 2 (b), the first at cell ("));
        s.overset.orphans = 10000;
        CHECK(refused(s).empty());
    }
}

TEST_CASE("the drag of a cylinder at Reynolds number 40 is that on one zone within 1 %") {
    Settings one;
    one.flow.equations = "laminar", one.flow.mach = 0.1, one.flow.reynolds = 40;
    one.time.cfl = 20, one.time.cfl_start = 5, one.time.ramp = 100, one.time.implicit = "lu-sgs";
    Settings two = one;
    one.grid.kind = "cylinder", one.grid.cells = {96, 56}, one.grid.patch = {32, 28};
    one.grid.first = 0.02, one.grid.farfield = 20;
    one.boundaries["wall"].kind = "wall", one.boundaries["farfield"].kind = "far-field";
    two.meshes["ring"].grid = one.grid;
    two.meshes["ring"].grid.section = "mesh.ring";
    two.meshes["ring"].grid.cells = {96, 28}, two.meshes["ring"].grid.farfield = 3;
    two.meshes["background"].grid = brick("background", {72, 72}, {-20, -20}, {20, 20}, 0);
    two.meshes["background"].grid.stretch = 3.5, two.meshes["background"].grid.patch = {24, 24};
    outer(two, "background", 2, "far-field");
    two.boundaries["ring-wall"].kind = "wall", two.boundaries["ring-farfield"].kind = "overset";
    const Ran single = run(one, 1500), overset = run(two, 1500);
    CAPTURE(single.drag, overset.drag, single.residual, overset.residual);
    CHECK(overset.orphans == 0);
    CHECK(overset.residual < 1e-4);
    CHECK(std::abs(overset.drag / single.drag - 1) < 0.01);
}
