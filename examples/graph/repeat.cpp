// Repeat: the left end of a bar is held at 0, the right one at s in step s. In each step Jacobi's iteration,
// u_i = (u_(i-1) + u_(i+1)) / 2, is repeated until no u changes by 1e-10: u_i = s (i + 1) / (n + 1).
//   strata launch --layout 2x1 -- repeat
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        constexpr int n = 8;
        Graph graph("repeat");
        Grid& bar = graph.grid("bar", {.cells = {{0, 0, 0}, {n, 1, 1}}, .patch_cells = {4, 1, 1}});
        const auto u = graph.field<double>("u", bar, On::cells, {.history = 1});
        const auto change = graph.scalar<double>("change", Reduce::max);
        const auto error = graph.scalar<double>("error", Reduce::max);
        {
            Task task = graph.start().task("zero", bar);
            const auto first = task.make(u);
            task.run([=](Here& here) {
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) here[first](i) = 0;
            });
        }
        Scope& solve = graph.step().repeat<double>(
            "solve", change.at(0), [](double largest) { return largest < 1e-10; }, 1000);
        {
            Task task = solve.task("average", bar);
            const auto old = task.need(u.previous(), ghosts(1));  // of the round before
            const auto now = task.make(u);
            const auto largest = task.contribute(change);
            task.run([=](Here& here) {
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) {
                    const double left = i == 0 ? 0 : here[old](i - 1);
                    const double right = i == n - 1 ? double(here.step) : here[old](i + 1);
                    here[now](i) = (left + right) / 2;
                    here[largest] = std::max(here[largest], std::abs(here[now](i) - here[old](i)));
                }
            });
        }
        Task task = graph.step().task("compare", bar);
        const auto end = task.need(u.last());  // what the last round made
        const auto largest = task.contribute(error);
        task.run([=](Here& here) {
            const double slope = double(here.step) / (n + 1);
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i)
                here[largest] = std::max(here[largest], std::abs(here[end](i) - slope * (i + 1)));
        });
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(2);
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("error after 2 steps %.0e\n", run.value(error));
        return run.value(error) < 2e-9 ? 0 : 1;
    });
}
