// Flow on meshes that overlap: uniform flow stays, a vortex crosses an overlap with second order, a cylinder
// has the drag that it has on one zone; what cases may not say.
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/flow/flow_runs.hpp"

using namespace strata;
using namespace strata::flow;

namespace {

using Ran = tests::FlowRan;
Ran run(const Settings& s, std::int64_t steps) { return tests::run_flow(s, steps); }

void outer(Settings& s, const std::string& mesh, int dimensions, const std::string& kind) {
    tests::all_sides(s, mesh + "-", dimensions, kind);
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

/// A wing across a box, between planes of symmetry; its wall goes with the uniform flow.
Settings wing_in_box() {
    Settings s;
    s.meshes["box"].grid = brick("box", {28, 24, 8}, {-3.5, -4, 0}, {4.5, 4, 1}, 0);
    s.meshes["box"].grid.stretch = 3;
    GridKeys& g = s.meshes["wing"].grid;
    g.section = "mesh.wing";
    g.kind = "wing", g.cells = {20, 6, 12, 6}, g.patch = {10, 12, 6};
    g.farfield = 2, g.first = 0.03, g.first_along = 0.02, g.own.of<WingGrid>().span = 1;
    s.flow.equations = "laminar", s.flow.mach = 0.4, s.flow.reynolds = 100;
    outer(s, "box", 3, "far-field");
    s.boundaries["box-z-min"].kind = s.boundaries["box-z-max"].kind = "symmetry";
    s.boundaries["wing-tip"].kind = "symmetry";
    s.boundaries["wing-root"].kind = "symmetry";
    s.boundaries["wing-wall"].kind = "wall", s.boundaries["wing-wall"].velocity = {0.4, 0, 0};
    for (const char* name : {"wing-farfield", "wing-outflow"}) s.boundaries[name].kind = "overset";
    s.verify.uniform = 1;
    return s;
}

/// A vortex in a periodic square with a finer wavy mesh in its way.
Settings vortex(int n, double step) {
    Settings s = tests::vortex_in_square(n, step);
    s.meshes["a"].grid = s.grid;
    s.meshes["a"].grid.section = "mesh.a", s.meshes["a"].grid.patch = {10, 8, 6};
    s.grid = {};
    s.meshes["b"].grid = brick("b", {n / 2, n / 2}, {-1.1, -2.2}, {3, 1.9}, 0.02);
    outer(s, "b", 2, "overset");
    s.initial.centre = {-1.5, 0};
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

TEST_CASE("a mesh that others hide is refused with its name") {
    Settings s = uniform(2, "euler");
    s.overset.lean = 100;  // cells of b count as much larger than those of a, which is everywhere
    CHECK(has(refused(s), "no cell of the mesh 'b' is computed"));
}

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

TEST_CASE("uniform flow stays around a wing that cuts a hole into a box") {
    const Ran ran = run(wing_in_box(), 6);
    CHECK(ran.holes > 0);
    CHECK(ran.orphans == 0);
    CHECK(ran.departure < 1e-12);
    CHECK(ran.departure > 0);
    CHECK(ran.failures == 0);
}

TEST_CASE("by wall distance a mesh computes all that it can around its own walls") {
    Settings s;
    s.meshes["background"].grid = brick("background", {64, 64}, {-4, -4}, {4, 4}, 0);
    s.meshes["ring"].grid.section = "mesh.ring";
    s.meshes["ring"].grid.kind = "cylinder", s.meshes["ring"].grid.cells = {64, 24};
    s.meshes["ring"].grid.first = 0.03, s.meshes["ring"].grid.farfield = 2;
    outer(s, "background", 2, "far-field");
    s.boundaries["ring-wall"].kind = "slip-wall", s.boundaries["ring-farfield"].kind = "overset";
    const auto ring = [&](const std::string& better) {
        s.overset.better = better;
        std::int64_t computed = 0;
        const Flow* of = nullptr;
        (void)tests::run_flow(
            s, 1,
            {.declare = [&](graph::Graph&, const Flow& flow) { of = &flow; },
             .end =
                 [&](const graph::Simulation& run) {
                     const auto counts = run.numbers(of->finest().overset->found->counts);
                     computed = counts[overset::kCounts + overset::kComputed];
                     CHECK(counts[overset::kOrphans] + counts[overset::kCounts + overset::kOrphans] == 0);
                 }});
        return computed;
    };
    CHECK(ring("wall distance") == 64 * (24 - 2));  // the background has no wall
    CHECK(ring("volume") < 64 * (24 - 2));
    s.overset.fringe = 4;
    CHECK(ring("wall distance") == 64 * (24 - 4));
    s.overset.fringe = 2, s.overset.lean = 100;  // cells of the ring count as large
    CHECK(ring("volume") < 64 * 12);
}

TEST_CASE("norms are over the cells that are computed") {
    const Ran ran = run(vortex(32, 0.1), 1);
    CHECK(ran.holes + ran.receptors > 100);
    CHECK(ran.residual == Approx(std::sqrt(ran.squares / double(ran.computed))).epsilon(1e-14));
}

TEST_CASE("uniform flow stays on coarser meshes and in cycles") {
    for (const int dimensions : {2, 3}) {
        CAPTURE(dimensions);
        Settings s = uniform(dimensions, "laminar");
        if (dimensions == 3) s.meshes["a"].grid.cells = {16, 16, 12};
        s.time.sequence = {4}, s.time.multigrid = 2;
        const Ran ran = tests::run_flow(s, 10, {.declare = [](graph::Graph&, const Flow& flow) {
                                            CHECK(flow.labels.size() == 2);
                                            for (const Labels& stage : flow.labels)
                                                CHECK((stage.overset != nullptr && stage.overset->found));
                                        }});
        CHECK(ran.departure < 1e-12);
        CHECK(ran.departure > 0);
        CHECK(ran.failures == 0);
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
    const Flow* of = nullptr;
    std::vector<double> flows;
    const Ran single = run(one, 1500),
              overset = tests::run_flow(two, 1500,
                                        {.declare = [&](graph::Graph&, const Flow&flow) { of = &flow; },
                                         .end =
                                             [&](const graph::Simulation&run) {
                                                 flows = run.numbers(*of->finest().overset->flows);
                                             }});
    CAPTURE(single.drag, overset.drag, single.residual, overset.residual, flows);
    // In steady flow nothing flows out of the ring through its edge, with the fluxes that its residual has;
    // what flows into the hole of the background is made by the overlap.
    CHECK(std::abs(flows[2]) < 1e-5 * flows[3]);
    CHECK(std::abs(flows[0]) < 1e-4 * flows[1]);
    CHECK(overset.orphans == 0);
    CHECK(overset.residual < 1e-4);
    CHECK(std::abs(overset.drag / single.drag - 1) < 0.01);
}
