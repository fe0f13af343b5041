// Shapes in field files: two rings of curvilinear cells around each other, with a hole that lies in both.
//   strata launch --layout 2x1 -- shapes --out rings       # open rings/rings.vtkhdf.series in ParaView
// A wave goes around. The areas of all cells, by their corners, are those of two polygons of 96 sides.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>

#include "core/run/driver/showing.hpp"

using namespace strata::graph;
constexpr double kTurn = 2 * std::numbers::pi;
constexpr int kAround = 96, kSteps = 8;

/// A ring from radius `from` to `to`, closed in x: its fields, and what it looks like.
CurvilinearBlock ring(Graph& graph, const std::string& name, double from, double to, Scalar<double> area) {
    Grid& grid = graph.grid(
        name, {.cells = {{0, 0, 0}, {kAround, 12, 1}}, .patch_cells = {32, 12, 1}, .periodic = {true}});
    const auto at = graph.field<double>(name + ".at", grid, On::nodes, {.components = 2, .unit = "m"});
    const auto hole = graph.field<std::int32_t>(name + ".hole", grid, On::cells, {.kept = true});
    const auto wave = graph.field<double>(name + ".wave", grid, On::cells, {.kept = true});
    const auto place = [=](double i, double j) {
        const double r = from + (to - from) * j / 12, angle = kTurn * i / kAround;
        return Real3{r * std::cos(angle), r * std::sin(angle)};
    };
    Task first = graph.start().task("place " + name, grid);
    const auto nodes = first.make(at);
    const auto open = first.make(hole);
    first.run([=](Here& here) {
        const Box box = here[nodes].box();
        for (int j = box.lo[1]; j < box.hi[1]; ++j)
            for (int i = box.lo[0]; i < box.hi[0]; ++i)
                here[nodes](i, j, 0, 0) = place(i, j)[0], here[nodes](i, j, 0, 1) = place(i, j)[1];
        for (int j = here.cells().lo[1]; j < here.cells().hi[1]; ++j)
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) {
                const Real3 middle = place(i + 0.5, j + 0.5);
                here[open](i, j) = std::hypot(middle[0] - 1.2, middle[1] - 1.2) > 0.4;  // 0: hidden
            }
    });
    Task task = graph.step().task("turn " + name, grid);
    const auto corners = task.need(at, ghosts(1));
    const auto now = task.make(wave);
    const auto sum = task.contribute(area);
    task.run([=](Here& here) {
        const auto X = here[corners];
        for (int j = here.cells().lo[1]; j < here.cells().hi[1]; ++j)
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) {
                const double turned = (i + 0.5) / kAround - static_cast<double>(here.step) / (8 * kSteps);
                here[now](i, j) = std::cos(3 * kTurn * turned);
                const auto d = [&](int c, int up) { return X(i + 1, j + up, 0, c) - X(i, j + 1 - up, 0, c); };
                here[sum] += std::abs(d(0, 1) * d(1, 0) - d(0, 0) * d(1, 1)) / 2;
            }
    });
    return {grid, at, hole};
}

int main(int argc, char** argv) {
    const std::string out = argc > 2 && argv[1] == std::string("--out") ? argv[2] : "";
    return strata::team::run(argc, argv, [&](strata::team::Team& team) {
        Graph graph("rings");
        const auto area = graph.scalar<double>("area", Reduce::sum);
        const auto inner = ring(graph, "inner", 1, 1.5, area), outer = ring(graph, "outer", 1.5, 2.5, area);
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        const auto files = shown_files(graph, run.resolved(), {curvilinear("rings", {inner, outer})});
        if (team.rank() == 0 && !out.empty()) begin_shown(files, out, false, 0);
        run.start();
        for (int step = 1; step <= kSteps; ++step) {
            run.advance(1);
            if (!out.empty()) write_shown(files, run, team, out, step);
        }
        team.barrier();  // nobody frees its patches while others read them
        const double error =
            std::abs(run.value(area) / (kAround / 2.0 * std::sin(kTurn / kAround) * (2.5 * 2.5 - 1)) - 1);
        if (team.rank() == 0) std::printf("area %.6g m2, error %.1g\n", run.value(area), error);
        return error < 1e-12 ? 0 : 1;
    });
}
