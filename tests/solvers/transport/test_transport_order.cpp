// The transport solver's order of accuracy against exact solutions, what it conserves, and how it fails.
#include <cmath>
#include <cstring>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "solvers/transport/exact.hpp"
#include "solvers/transport/tasks.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::transport;

namespace {

struct Ended {
    double error = 0, change = 0, most = 0;  // change: of the integral, as a share
    std::int64_t steps = 0;
};

Ended run(const Settings& s, int threads = 2) {
    Graph graph("transport");
    const Labels labels = transport::declare(graph, s);
    Simulation simulation(graph, Members::alone(), {.threads = threads});
    simulation.start();
    simulation.stop_when<double>(labels.clock.time, [&](double now) { return now >= s.end; });
    simulation.advance(1'000'000);
    CHECK(simulation.value(labels.clock.time) == s.end);
    const auto& grid = static_cast<const Grid&>(*graph.labels()[labels.T.id()].family);
    Ended end;
    end.steps = simulation.step();
    end.most = simulation.value(labels.report.most);
    double squares = 0, now = 0, first = 0;
    for (const Kept& kept : kept_versions(simulation.plan())) {
        if (kept.label != labels.T.id() || kept.back != 0) continue;
        for (int p = 0; p < grid.patches(); ++p) {
            const std::vector<std::byte> bytes = simulation.values(kept, p);
            const Box all = grid.owned(p, On::cells, graph.labels()[kept.label].border);
            const Profile exact(s, grid.box(p), s.end), initial(s, grid.box(p), 0);
            std::size_t at = 0;
            for (int k = all.lo[2]; k < all.hi[2]; ++k)
                for (int j = all.lo[1]; j < all.hi[1]; ++j)
                    for (int i = all.lo[0]; i < all.hi[0]; ++i, at += sizeof(double)) {
                        if (!grid.box(p).contains(Int3{i, j, k})) continue;
                        double value = 0;
                        std::memcpy(&value, bytes.data() + at, sizeof value);
                        squares += std::pow(value - exact.at(i, j, k), 2);
                        now += value;
                        first += initial.at(i, j, k);
                    }
        }
    }
    const auto cells = static_cast<double>(s.shape().cells.volume());
    end.error = std::sqrt(squares / cells);
    end.change = std::abs(now - first) / std::abs(first);
    return end;
}

/// Observed order from one grid to one twice as fine.
double order(Settings coarse, Settings fine) {
    const double a = run(coarse).error, b = run(fine).error;
    CAPTURE(a, b);
    REQUIRE(b > 0);
    return std::log2(a / b);
}

Settings heat(std::int64_t n, std::size_t directions, bool periodic) {
    Settings s;
    s.equation = "heat";
    s.cells.assign(directions, n);
    s.patch_cells.assign(directions, n / 4 + 1);  // the last patch of each direction is smaller
    s.size = {1.0, 1.5, 0.75};
    s.waves = {1, 2, 1};
    s.periodic = periodic;
    s.diffusivity = 0.3;
    s.end = 0.02;
    s.cfl = 0.6;
    return s;
}

Settings flow(std::int64_t n, const char* kind, std::size_t directions = 2) {
    Settings s;
    s.equation = "advection";
    s.cells.assign(directions, n);
    s.patch_cells.assign(directions, n / 4 + 1);
    s.flow = kind;
    s.velocity = {1.0, -0.5, 0.75};
    s.profile = directions == 2 ? "gaussian" : "cosines";
    s.centre = {0.5, 0.7, 0.5};
    s.width = 0.15;
    s.periodic = s.flow == "uniform";
    s.end = 0.5;
    s.cfl = 0.5;
    return s;
}

}  // namespace

TEST_CASE("heat is of second order, in two and three directions, with walls and without") {
    for (const bool periodic : {true, false}) {
        CAPTURE(periodic);
        CHECK(order(heat(32, 2, periodic), heat(64, 2, periodic)) >= 1.9);
        CHECK(order(heat(24, 3, periodic), heat(48, 3, periodic)) >= 1.9);
    }
}

TEST_CASE("a uniform flow carries a profile with second order, in two and three directions") {
    CHECK(order(flow(64, "uniform"), flow(128, "uniform")) >= 1.9);
    CHECK(order(flow(24, "uniform", 3), flow(48, "uniform", 3)) >= 1.9);
}

TEST_CASE("a rotation and a vortex that turns back bring a profile home with second order") {
    Settings coarse = flow(96, "rotation"), fine = flow(192, "rotation");
    for (Settings* s : {&coarse, &fine}) {  // well within the circle: what leaves through a wall is lost
        s->centre = {0.5, 0.65, 0.5};
        s->width = 0.08;
    }
    CHECK(order(coarse, fine) >= 1.9);
    coarse = flow(96, "vortex"), fine = flow(192, "vortex");
    CHECK(order(coarse, fine) >= 1.9);
}

TEST_CASE("nothing is lost, and a flow without divergence keeps a constant") {
    CHECK(run(heat(32, 2, false)).change < 1e-13);
    CHECK(run(heat(32, 2, true)).change < 1e-13);
    CHECK(run(flow(48, "uniform")).change < 1e-13);
    Settings s = flow(48, "vortex");
    s.profile = "cosines";
    s.waves = {0, 0, 0};  // 1 everywhere
    s.background = 0;
    const Ended end = run(s);
    CHECK(end.error < 1e-13);
}

TEST_CASE("the time step is the stable one times cfl, and the last one ends the run at its end") {
    Settings s = heat(32, 2, true);
    s.size = {1.0, 1.0, 1.0};
    const double stable = 1.0 / 32 / 32 / 4 / s.diffusivity;
    s.cfl = 1.0;
    s.end = 10.5 * stable;
    CHECK(run(s).steps == 11);
}

TEST_CASE("a case that names no patch gets rows as long as the grid, by 32 across") {
    Settings s;
    s.cells = {100, 40, 33};
    const Grid space("space", s.shape());
    REQUIRE(space.patches() == 4);
    CHECK(space.box(0).hi == Int3{100, 32, 32});
    s.cells = {20, 64};
    const Grid plane("plane", s.shape());
    REQUIRE(plane.patches() == 2);
    CHECK(plane.box(0).hi == Int3{20, 32, 1});
}

TEST_CASE("a profile that no cell sees is refused") {
    const auto refused = [](double x, double width, bool periodic) {
        Settings s;
        s.equation = "heat", s.cells = {20, 20}, s.periodic = periodic, s.profile = "gaussian";
        s.centre = {x, 0.5}, s.width = width;
        s.end = 1;
        try {
            check(s, schema(s));
        } catch (const Error& error) {
            return error.text().find("no cell sees the gaussian") != std::string::npos;
        }
        return false;
    };
    CHECK_FALSE(refused(0.5, 0.05, false));
    CHECK(refused(0.5, 0.005, false));  // cells are 0.05 m wide, and the centre is a corner of four
    CHECK_FALSE(refused(0.525, 0.02, true));
    CHECK(refused(3.5, 0.1, false));
    CHECK_FALSE(refused(3.5, 0.1, true));
}

TEST_CASE("a step beyond the stable one ends the run with patch, step and label") {
    for (Settings s : {heat(32, 2, true), flow(48, "uniform")}) {
        s.cfl = s.heat() ? 2.0 : 4.0;
        s.end = 1000;
        s.waves = {8, 8, 8};
        std::string said;
        try {
            run(s);
        } catch (const Error& error) {
            said = error.text();
        }
        CAPTURE(said);
        CHECK(said.find("patch ") != std::string::npos);
        CHECK(said.find("step ") != std::string::npos);
        CHECK(said.find("temperature") != std::string::npos);
        CHECK(said.find("time.cfl = ") != std::string::npos);
    }
}
