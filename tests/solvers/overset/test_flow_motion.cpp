// Grids that move: uniform flow stays, a vortex crosses a mesh that turns with second order, a body that goes
// through a slow stream has the drag of one in a fast stream; what cases may not say.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "methods/curvilinear/swept.hpp"
#include "solvers/flow/scheme/patch.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/flow/flow_runs.hpp"

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

namespace {

/// A cylinder that goes round about a place beside it, over a background at rest.
Settings round_trip() {
    Settings s;
    s.meshes["background"].grid = brick("mesh.background", {52, 32}, {-9, -4}, {4, 4}, 0.01);
    GridKeys& ring = s.meshes["ring"].grid;
    ring.section = "mesh.ring", ring.kind = "cylinder", ring.cells = {32, 10}, ring.farfield = 2;
    ring.first = 0.06;
    MotionKeys& turn = ring.motion;
    turn.kind = "rotation", turn.rate = 0.4, turn.centre = {-1, 0};
    outer(s, "background", 2, "far-field");
    s.boundaries["ring-wall"].kind = "slip-wall", s.boundaries["ring-farfield"].kind = "overset";
    s.flow.mach = 0.3;
    dual_time(s, 0.25, 4, 0);
    return s;
}

/// The largest differences of means from those of all steps from `first` on: share of steps in which a cell
/// is no hole, density, velocity along the axes of the mesh, pressure, departure of the pressure; and the
/// least share above 0.
using MeanOff = std::array<double, 6>;
MeanOff means_off(const Settings& s, std::int64_t first, std::int64_t steps) {
    graph::Scalar<MeanOff> most;
    MeanOff found{};
    const auto declare = [&](graph::Graph& graph, const Flow& flow) {
        const Labels& l = flow.finest();
        const graph::Zones& zones = flow.grid().zones();
        constexpr int kSums = 6;
        const auto sums =
            graph.field<double>("sums", zones, graph::On::cells, {.components = kSums, .kept = true});
        most = graph.scalar<MeanOff>("means off", graph::Reduce::max, 0.0);
        graph::Task none = graph.start().task("no sums", zones);
        none.run([to = none.make(sums)](graph::Here& here) {
            for (int c = 0; c < kSums; ++c)
                graph::for_each(here.cells(), [&](int i, int j, int k) { here[to](i, j, k, c) = 0; });
        });
        graph::Task task = graph.step().task("compare means", zones);
        const auto q = task.need(l.q.last());
        const auto is = task.need(l.overset->status());
        const auto sum = task.modify(sums);
        std::vector<graph::FieldUse<const double>> mean;
        for (const auto& label : flow.shown.means.fields) mean.push_back(task.need(label.last()));
        task.run([=, to = task.contribute(most), &grid = flow.grid()](graph::Here& here) {
            MeanOff& off = here[to];
            off = {};
            if (here.step < first) return;
            const auto placed =
                grid.motions().placed(grid.mesh_of(grid.zones().zone_of(here.patch)), here.step);
            const double n = static_cast<double>(here.step - first + 1);
            off[5] = -1;
            graph::for_each(here.cells(), [&](int i, int j, int k) {
                const auto all = [&](int c) -> double& { return here[sum](i, j, k, c); };
                if (here[is](i, j, k) != static_cast<std::int32_t>(overset::Cell::hole)) {
                    const double rho = here[q](i, j, k, 0), u = here[q](i, j, k, 1) / rho,
                                 v = here[q](i, j, k, 2) / rho;
                    const double p = 0.4 * (here[q](i, j, k, 3) - 0.5 * rho * (u * u + v * v));
                    all(0) += 1, all(1) += rho;
                    all(2) += placed.turn[0][0] * u + placed.turn[1][0] * v;
                    all(3) += placed.turn[0][1] * u + placed.turn[1][1] * v;
                    all(4) += p, all(5) += p * p;
                }
                const auto differs = [&](std::size_t at, double a, double b) {
                    off[at] = std::max(off[at], std::abs(a - b));
                };
                const double count = all(0);
                differs(0, here[mean[6]](i, j, k), count / n);
                if (count == 0) return;
                off[5] = std::max(off[5], -count / n);
                differs(1, here[mean[0]](i, j, k), all(1) / count);
                for (int d = 0; d < 2; ++d) differs(2, here[mean[2]](i, j, k, d), all(2 + d) / count);
                differs(3, here[mean[4]](i, j, k), all(4) / count);
                const double p = all(4) / count;
                differs(4, here[mean[5]](i, j, k), std::sqrt(std::max(0.0, all(5) / count - p * p)));
            });
        });
    };
    (void)tests::run_flow(s, steps, {.declare = declare, .end = [&](const graph::Simulation& run) {
                                         found = run.value(most);
                                     }});
    found[5] = -found[5];
    return found;
}

}  // namespace

TEST_CASE("means on meshes that move are those of the steps in which a cell is no hole") {
    Settings s = round_trip();
    s.output.average = 0.5;
    const auto [share, rho, u, p, rms, least] = means_off(s, 3, 14);
    CHECK(share < 1e-13);
    CHECK(rho < 1e-12);
    CHECK(u < 1e-12);
    CHECK(p < 1e-12);
    CHECK(rms < 1e-6);
    CHECK(least > 0);
    CHECK(least < 0.5);  // of some cells most steps do not count
}

TEST_CASE("cells that come out of holes where no other mesh knew the flow are limited as orphans are") {
    Settings s = round_trip();
    // Farther in a step than the ring reaches.
    MotionKeys& path = s.meshes["ring"].grid.motion;
    path = {}, path.kind = "path", path.velocity = {-0.5, 0};
    s.time.step = 7;
    const std::string told = refused(s);
    CAPTURE(told);
    CHECK(has(told, "come out of holes where no other mesh knew the flow"));
    CHECK(has(told, "the first at cell ("));
    s.overset.orphans = 1000;
    double all = 0;
    graph::Scalar<double> so_far;
    (void)tests::run_flow(
        s, 1,
        {.declare = [&](graph::Graph&, const Flow& flow) { so_far = flow.finest().overset->unknown->so_far; },
         .end = [&](const graph::Simulation& run) { all = run.value(so_far); }});
    CHECK(all > 0);
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
    SECTION("sectors in which meshes do not move alike") {
        GridKeys& sector = s.meshes["a"].grid;
        sector.motion = {};
        sector.kind = "sector", sector.turn = 90, sector.turn_axis = "z";
        s.flow.mach = 0, s.reference.mach = 0.5;
        CHECK(has(refused(s), "mesh.b.motion.centre"));
        turn.centre = {0, 0, 3}, turn.axis = {0, 1, 1};
        CHECK(has(refused(s), "mesh.b.motion.axis"));
        turn.axis = {0, 0, 1};
        CHECK_FALSE(has(refused(s), "mesh.b.motion"));
        sector.motion.kind = "path", sector.motion.velocity = {0, 0.1, 0.1};
        CHECK(has(refused(s), "mesh.a.motion.velocity"));
        sector.motion.velocity = {}, sector.motion.heave = {0.1, 0, 0}, sector.motion.frequency = 1;
        CHECK(has(refused(s), "mesh.a.motion.heave"));
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
