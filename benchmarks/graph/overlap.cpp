// Whether messages between nodes are under way while a process computes: what a step costs when every message
// is held back for some time, beside what it costs to compute and what the messages take.
//
//   STRATA_RANKS_PER_NODE=1 mpirun -n 2 --bind-to core graph-overlap [MICROSECONDS A PATCH]
//
// Each process has 64 patches in a row, of which two are read by others; a task works for some time on each.
// A step cannot cost less than the longer of computing and (for who waits for the other's last values) a
// message: the figure is how much more it costs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata;

namespace {

constexpr int kPatches = 64, kCells = 32;

struct Row {
    graph::Graph graph{"row"};
    graph::Grid& grid;
    graph::Field<double> u;

    Row(int processes, int rounds)
        : grid(graph.grid("row", {.cells = {{0, 0, 0}, {processes * kPatches * kCells, 1, 1}},
                                  .patch_cells = {kCells, 1, 1},
                                  .periodic = {true, false, false}})),
          u(graph.field<double>("u", grid, graph::On::cells, {.history = 1})) {
        {
            graph::Task task = graph.start().task("begin", grid);
            const auto now = task.make(u);
            task.run([=](graph::Here& here) {
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i)
                    here[now](i) = std::sin(0.01 * i);
            });
        }
        graph::Task task = graph.step().task("work", grid);
        const auto old = task.need(u.previous(), graph::ghosts({1, 0, 0}));
        const auto now = task.make(u);
        task.run([=](graph::Here& here) {
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) {
                double x = 0.25 * here[old](i - 1) + 0.5 * here[old](i) + 0.25 * here[old](i + 1);
                const double first = x;
                for (int n = 0; n < rounds; ++n) x = std::sqrt(x * x + 1e-30);
                here[now](i) = 0.5 * (x + first);
            }
        });
    }
};

double step_seconds(team::Team& team, const std::vector<int>& rounds, double delay, int steps) {
    Row row(team.size(), rounds.front());
    graph::Members members = graph::Members::of(team);
    members.message_delay = delay;
    graph::Simulation run(row.graph, members, {.crew = &team.crew()});
    run.start();
    run.advance(5);
    team.barrier();
    run.advance(steps);
    return team.together().reduce(run.batch().seconds / steps,
                                  [](double a, double b) { return std::max(a, b); });
}

}  // namespace

int main(int argc, char** argv) {
    return team::run(argc, argv, [&](team::Team& team) {
        const double wanted = (argc > 1 ? std::atof(argv[1]) : 50.0) * 1e-6;
        constexpr int trial = 1000, steps = 100;
        const double once = step_seconds(team, {trial}, 0, 20) / kPatches;
        const std::vector<int> rounds{std::max(1, static_cast<int>(trial * wanted / once))};
        const double compute = step_seconds(team, rounds, 0, steps);
        if (team.rank() == 0)
            fmt::print(
                "{} processes, {} patches each, a step without delay {:.3f} ms\n"
                "delay ms   step ms   step / max(compute, delay)\n",
                team.size(), kPatches, 1e3 * compute);
        for (const double times : {0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0}) {
            const double delay = times * compute, step = step_seconds(team, rounds, delay, steps);
            if (team.rank() == 0)
                fmt::print("{:8.3f}  {:8.3f}   {:.3f}\n", 1e3 * delay, 1e3 * step,
                           step / std::max(compute, delay));
        }
        return 0;
    });
}
