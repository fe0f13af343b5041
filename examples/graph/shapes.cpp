// Shapes in field files: two rings of curvilinear cells around each other, with a hole that lies in both.
//   strata launch --layout 2x1 -- shapes --out rings       # open rings/rings.vtkhdf.series in ParaView
// A wave goes around, an eighth of a turn in eight steps. The areas of all cells, by their corners, are those
// of two polygons of 96 sides.
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
    const auto x = graph.field<double>(name + ".x", grid, On::nodes, {.unit = "m", .kept = true});
    const auto y = graph.field<double>(name + ".y", grid, On::nodes, {.unit = "m"});
    const auto hole = graph.field<std::int32_t>(name + ".hole", grid, On::cells, {.kept = true});
    const auto wave = graph.field<double>(name + ".wave", grid, On::cells, {.kept = true});
    const auto place = [=](double i, double j) {
        const double r = from + (to - from) * j / 12, angle = kTurn * i / kAround;
        return Real3{r * std::cos(angle), r * std::sin(angle)};
    };
    {
        Task task = graph.start().task("place " + name, grid);
        const auto px = task.make(x), py = task.make(y);
        const auto open = task.make(hole);
        task.run([=](Here& here) {
            const Box nodes = here[px].box(), cells = here.cells();
            for (int j = nodes.lo[1]; j < nodes.hi[1]; ++j)
                for (int i = nodes.lo[0]; i < nodes.hi[0]; ++i)
                    for (int k = 0; k < 2; ++k)
                        here[px](i, j, k) = place(i, j)[0], here[py](i, j, k) = place(i, j)[1];
            for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
                for (int i = cells.lo[0]; i < cells.hi[0]; ++i) {
                    const Real3 at = place(i + 0.5, j + 0.5);
                    here[open](i, j) = std::hypot(at[0] - 1.2, at[1] - 1.2) > 0.4;  // 0: hidden
                }
        });
    }
    Task task = graph.step().task("turn " + name, grid);
    const auto px = task.need(x, ghosts(1)), py = task.need(y, ghosts(1));
    const auto now = task.make(wave);
    const auto sum = task.contribute(area);
    task.run([=](Here& here) {
        const Box cells = here.cells();
        const auto X = here[px], Y = here[py];
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
            for (int i = cells.lo[0]; i < cells.hi[0]; ++i) {
                const double turned = (i + 0.5) / kAround - static_cast<double>(here.step) / (8 * kSteps);
                here[now](i, j) = std::cos(3 * kTurn * turned);
                here[sum] += std::abs((X(i + 1, j + 1) - X(i, j)) * (Y(i, j + 1) - Y(i + 1, j)) -
                                      (X(i, j + 1) - X(i + 1, j)) * (Y(i + 1, j + 1) - Y(i, j))) /
                             2;
            }
    });
    return {grid, {x, y}, hole};
}

int main(int argc, char** argv) {
    const std::string out = argc > 2 && argv[1] == std::string("--out") ? argv[2] : "";
    return strata::team::run(argc, argv, [&](strata::team::Team& team) {
        Graph graph("rings");
        const auto area = graph.scalar<double>("area", Reduce::sum);
        const ShownShape rings =
            curvilinear("rings", {ring(graph, "inner", 1, 1.5, area), ring(graph, "outer", 1.5, 2.5, area)});
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        const std::vector<ShownFile> files = shown_files(graph, run.resolved(), {rings});
        if (team.rank() == 0 && !out.empty()) begin_shown(files, out, false, 0);
        run.start();
        for (int step = 1; step <= kSteps; ++step) {
            run.advance(1);
            if (!out.empty()) write_shown(files, run, team, out, step);
        }
        team.barrier();  // nobody frees its patches while others read them
        const double exact = kAround / 2.0 * std::sin(kTurn / kAround) * (2.5 * 2.5 - 1);
        const double error = std::abs(run.value(area) / exact - 1);
        if (team.rank() == 0) std::printf("area %.6g m2, error %.1g\n", run.value(area), error);
        return error < 1e-12 ? 0 : 1;
    });
}
