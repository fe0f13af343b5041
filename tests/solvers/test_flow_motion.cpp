// Grids that move: uniform flow stays, a vortex crosses a mesh that turns with second order, a body that goes
// through a slow stream has the drag of one in a fast stream; what cases may not say.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "solvers/flow/grid/swept.hpp"
#include "solvers/flow/scheme/patch.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/flow_runs.hpp"

using namespace strata;
using namespace strata::flow;

namespace {

using Ran = tests::FlowRan;
Ran run(const Settings& s, std::int64_t steps) { return tests::run_flow(s, steps); }

void outer(Settings& s, const std::string& mesh, int dimensions, const std::string& kind) {
    tests::all_sides(s, mesh.empty() ? "" : mesh + "-", dimensions, kind);
}

GridKeys brick(const std::string& section, const std::vector<std::int64_t>& cells,
               const std::vector<double>& low, const std::vector<double>& high, double wave) {
    GridKeys g;
    g.section = section;
    g.kind = "brick", g.cells = cells, g.low = low, g.high = high, g.wave = wave;
    g.patch = {10, 8, 6};
    return g;
}

void dual_time(Settings& s, double step, std::int64_t most, double drop) {
    s.time.kind = "unsteady", s.time.step = step, s.time.end = 1000;
    s.time.cfl = s.time.cfl_start = 1000, s.time.subiterations = most, s.time.drop = drop;
}

/// A wavy box along a path, in it a finer one that turns.
Settings uniform(int dimensions, const std::string& equations) {
    Settings s;
    const bool flat = dimensions == 2;
    s.meshes["a"].grid = flat ? brick("mesh.a", {24, 20}, {0, 0}, {1, 1}, 0.02)
                              : brick("mesh.a", {14, 13, 12}, {0, 0, 0}, {1, 1, 1}, 0.02);
    s.meshes["b"].grid = flat ? brick("mesh.b", {20, 18}, {0.31, 0.28}, {0.72, 0.7}, 0.03)
                              : brick("mesh.b", {12, 12, 12}, {0.24, 0.24, 0.23}, {0.76, 0.78, 0.79}, 0.02);
    MotionKeys& path = s.meshes["a"].grid.motion;
    path.kind = "path", path.velocity = {0.05, -0.04}, path.heave = {0.01, 0.02}, path.frequency = 2;
    MotionKeys& turn = s.meshes["b"].grid.motion;
    turn.kind = "rotation", turn.rate = 1.1, turn.centre = {0.5, 0.49, 0.5};
    if (!flat) turn.axis = {0.1, -0.2, 1};
    s.flow.equations = equations;
    s.flow.mach = 0.6, s.flow.alpha = 17, s.flow.beta = flat ? 0 : 11;
    s.flow.reynolds = 300;
    outer(s, "a", dimensions, "far-field");
    outer(s, "b", dimensions, "overset");
    dual_time(s, 0.05, 3, 0);
    s.verify.uniform = 1;
    return s;
}

/// A vortex in a periodic square; a finer wavy mesh in its way turns.
Settings vortex(int n, double step) {
    Settings s;
    s.meshes["a"].grid = brick("mesh.a", {n, n}, {-5, -5}, {5, 5}, 0.02);
    s.meshes["a"].grid.periodic = {1, 2};
    s.meshes["b"].grid = brick("mesh.b", {n / 2, n / 2}, {-1.1, -2.2}, {3, 1.9}, 0.02);
    MotionKeys& turn = s.meshes["b"].grid.motion;
    turn.kind = "rotation", turn.rate = 0.8, turn.centre = {0.95, -0.15};
    outer(s, "b", 2, "overset");
    s.flow.mach = 0.5;
    s.flow.initial = "vortex", s.initial.strength = 2, s.initial.centre = {-1.5, 0};
    dual_time(s, step, 60, 1e-5);
    s.verify.error = 1;
    return s;
}

/// A cylinder at Reynolds number 40: in a stream, or one that goes against a slower stream.
Settings cylinder(double stream, double speed) {
    Settings s;
    s.grid.kind = "cylinder", s.grid.cells = {48, 24}, s.grid.patch = {24, 12};
    s.grid.first = 0.04, s.grid.farfield = 10;
    s.flow.equations = "laminar", s.flow.mach = stream;
    // Mach / Re is the same.
    s.flow.reynolds = 40 * stream / (stream + speed);
    if (speed > 0) s.grid.motion.kind = "path", s.grid.motion.velocity = {-speed, 0};
    s.boundaries["wall"].kind = "wall", s.boundaries["farfield"].kind = "far-field";
    dual_time(s, 0.5, 80, 1e-8);
    s.time.cfl = s.time.cfl_start = 100, s.time.implicit = "lu-sgs";
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

/// A block of cells whose nodes move anyhow.
template <int Dim>
void check_swept() {
    const graph::Box cells{{0, 0, 0}, {3, 4, Dim == 3 ? 2 : 1}};
    graph::Box points = cells;
    for (std::size_t d = 0; d < Dim; ++d) ++points.hi[d];
    const auto view = [](std::vector<double>& values, const graph::Box& box, int components) {
        values.assign(static_cast<std::size_t>(box.volume() * components), 0.0);
        const std::ptrdiff_t y = box.extent(0), z = y * box.extent(1);
        return graph::FieldView<double>(values.data(), y, z, z * box.extent(2), box);
    };
    std::vector<double> before_values, now_values, volumes_before, volumes_now;
    const auto before = view(before_values, points, Dim), now = view(now_values, points, Dim);
    graph::for_each(points, [&](int i, int j, int k) {
        for (int d = 0; d < Dim; ++d) {
            const double place = d == 0 ? i : d == 1 ? j : k;
            before(i, j, k, d) = place + 0.2 * std::sin(3 * i + 5 * j + 7 * k + 2 * d);
            now(i, j, k, d) = before(i, j, k, d) + 0.3 * std::cos(2 * i + 3 * j + 5 * k + 4 * d);
        }
    });
    const auto v0 = view(volumes_before, cells, 1), v1 = view(volumes_now, cells, 1);
    volumes<Dim>(cells, readable(before), v0);
    volumes<Dim>(cells, readable(now), v1);
    std::array<std::vector<double>, 3> values;
    std::vector<graph::FieldView<double>> swept;
    for (int a = 0; a < Dim; ++a) {
        const auto axis = static_cast<std::size_t>(a);
        graph::Box faces = cells;
        ++faces.hi[axis];
        swept.push_back(view(values[axis], faces, 1));
        add_swept<Dim>(a, faces, readable(before), readable(now), 1, swept.back());
    }
    graph::for_each(cells, [&](int i, int j, int k) {
        double sum = 0;
        for (std::size_t a = 0; a < Dim; ++a) {
            graph::Int3 up{i, j, k};
            ++up[a];
            sum += swept[a](up[0], up[1], up[2]) - swept[a](i, j, k);
        }
        CHECK(std::abs(sum - (v1(i, j, k) - v0(i, j, k))) < 1e-14);
        CHECK(std::abs(sum) > 1e-4);
    });
}

}  // namespace

TEST_CASE("what the faces of a cell sweep outwards is what the cell gains") {
    check_swept<2>();
    check_swept<3>();
}

TEST_CASE("uniform flow stays to rounding on wavy meshes that turn and go along paths") {
    for (const int dimensions : {2, 3})
        for (const std::string equations : {"euler", "laminar"}) {
            CAPTURE(dimensions, equations);
            const Ran ran = run(uniform(dimensions, equations), dimensions == 2 ? 40 : 12);
            CHECK(ran.departure < 1e-12);
            CHECK(ran.departure > 0);
            CHECK(ran.failures == 0);
            CHECK(ran.orphans == 0);
            CHECK(ran.receptors > 0);
        }
}

TEST_CASE("uniform flow stays on a single grid that pitches") {
    Settings s;
    s.grid = brick("grid", {12, 11, 10}, {0, 0, 0}, {1, 1, 1}, 0.03);
    s.grid.motion.kind = "pitch", s.grid.motion.mean = 10, s.grid.motion.amplitude = 20;
    s.grid.motion.frequency = 3, s.grid.motion.axis = {1, 2, -1}, s.grid.motion.centre = {0.3, 0.2, 0.1};
    s.flow.mach = 0.6, s.flow.alpha = 17, s.flow.beta = 11;
    outer(s, "", 3, "far-field");
    dual_time(s, 0.07, 3, 0);
    s.verify.uniform = 1;
    const Ran ran = run(s, 20);
    CHECK(ran.departure < 1e-12);
    CHECK(ran.departure > 0);
}

TEST_CASE("a vortex crosses a mesh that turns with second order") {
    const double coarse = run(vortex(32, 0.1), 20).error, fine = run(vortex(64, 0.05), 40).error;
    CAPTURE(coarse, fine);
    CHECK(coarse < 4e-3);
    CHECK(std::log2(coarse / fine) > 1.8);
}

TEST_CASE("a vortex crosses a mesh that turns with second order, on three grids", "[.soak]") {
    const double coarse = run(vortex(32, 0.1), 20).error, middle = run(vortex(64, 0.05), 40).error,
                 fine = run(vortex(128, 0.025), 80).error;
    WARN(coarse << " " << middle << " " << fine);
    CHECK(std::log2(coarse / middle) > 1.8);
    CHECK(std::log2(middle / fine) > 1.8);
}

TEST_CASE("a cylinder that goes through a slow stream has the drag of one in a fast stream") {
    const Ran still = run(cylinder(0.2, 0), 8), moving = run(cylinder(0.05, 0.15), 8);
    // Coefficients refer to the speed of the stream.
    const double beside = moving.drag / 16;
    CAPTURE(still.drag, beside);
    CHECK(still.drag > 1);
    CHECK(std::abs(beside / still.drag - 1) < 1e-6);
}

TEST_CASE("Menter's model is the same on a grid that is turned and in a stream that is turned back") {
    const auto drag = [](double alpha, double turned) {
        Settings s = cylinder(0.2, 0);
        s.flow.equations = "rans", s.flow.model = "sst", s.flow.alpha = alpha;
        s.flow.k = 1e-2, s.flow.omega = 1e-4;  // eddies of a hundred times the viscosity
        MotionKeys& pitch = s.grid.motion;
        if (turned != 0) pitch.kind = "pitch", pitch.mean = turned, pitch.frequency = 1;
        dual_time(s, 0.2, 8, 0);
        s.time.cfl = s.time.cfl_start = 20, s.time.implicit = "lu-sgs";
        return run(s, 3).drag;
    };
    const double stream = drag(-60, 0), grid = drag(0, 60);
    CAPTURE(stream, grid);
    CHECK(stream > 0);
    CHECK(std::abs(grid / stream - 1) < 1e-8);
}

TEST_CASE("cases say how grids move, and errors name the key") {
    Settings s = uniform(2, "euler");
    MotionKeys& turn = s.meshes["b"].grid.motion;
    SECTION("steady flow") {
        s.time.kind = "steady";
        CHECK(has(refused(s), "mesh.a.motion.kind"));
    }
    SECTION("no rate") {
        turn.rate = 0;
        CHECK(has(refused(s), "mesh.b.motion.rate"));
    }
    SECTION("an axis without a direction, and one out of the plane") {
        turn.axis = {0, 0, 0};
        CHECK(has(refused(s), "mesh.b.motion.axis"));
        turn.axis = {1, 0, 0};
        CHECK(has(refused(s), "mesh.b.motion.axis"));
    }
    SECTION("to and fro without a frequency") {
        turn.kind = "pitch";
        CHECK(has(refused(s), "mesh.b.motion.frequency"));
    }
    SECTION("a path to nowhere, and one out of the plane") {
        turn.kind = "path";
        CHECK(has(refused(s), "mesh.b.motion.velocity"));
        turn.velocity = {0, 0, 1};
        CHECK(has(refused(s), "mesh.b.motion.velocity"));
    }
    SECTION("a probe that no cell holds at the start") {
        s.output.probes = {0.5, 0.5, 7, 7};
        CHECK(has(refused(s), "no cell holds probe 2"));
        s.output.probes = {0.5, 0.5};
        CHECK(refused(s).empty());
    }
    SECTION("means of cells that may be holes") {
        s.output.average = 0;
        CHECK(has(refused(s), "output.average"));
    }
    SECTION("a sector beside a mesh that moves") {
        GridKeys& sector = s.meshes["a"].grid;
        sector.motion = {};
        sector.kind = "sector", sector.turn = 90;
        s.flow.mach = 0, s.reference.mach = 0.5;
        CHECK(has(refused(s), "mesh.a.turn"));
    }
    SECTION("mass flow out of a mesh that moves") {
        s.boundaries["a-x-max"].kind = "mass-outflow", s.boundaries["a-x-max"].mass_flow = 0.57;
        CHECK(has(refused(s), "boundary.a-x-max.kind"));
        s.meshes["a"].grid.motion = {};
        CHECK(refused(s).empty());
    }
    SECTION("periodic across the axis of a turn") {
        s.meshes["a"].grid.periodic = {1};
        s.boundaries.erase("a-x-min"), s.boundaries.erase("a-x-max");
        CHECK(refused(s).empty());
        MotionKeys& whole = s.meshes["a"].grid.motion;
        whole.kind = "rotation", whole.rate = 1;
        CHECK(has(refused(s), "mesh.a.motion.kind"));
    }
    SECTION("meshes on one wall move together") {
        s.meshes["b"].on = "a", s.meshes["b"].cuts = false;
        CHECK(has(refused(s), "mesh.b.motion.kind"));
    }
    SECTION("meshes that part") {
        turn.kind = "path", turn.velocity = {8, 0};
        CHECK(has(refused(s), "cells have no donor"));
    }
}
