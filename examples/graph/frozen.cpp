// Frozen ghosts: the left end of a bar is held at 0, the right one at s in step s. In place, red cells (of
// even i) become the mean of their neighbours, then black ones, until none changes: s (i + 1) / (n + 1).
//   strata launch --layout 2x1 -- frozen
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        constexpr int n = 9;
        Graph graph("frozen");
        Grid& bar = graph.grid("bar", {.cells = {{0, 0, 0}, {n, 1, 1}}, .patch_cells = {3, 1, 1}});
        const auto u = graph.field<double>("u", bar, On::cells);
        const auto change = graph.scalar<double>("change", Reduce::max);
        const auto error = graph.scalar<double>("error", Reduce::max);
        {
            Task task = graph.start().task("zero", bar);
            const auto first = task.make(u);
            task.run([=](Here& here) {
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) here[first](i) = 0;
            });
        }
        const auto small = [](double largest) { return largest < 1e-10; };
        Scope& solve = graph.step().repeat<double>("solve", change.at(0), small, 1000);
        for (const int colour : {0, 1}) {
            Task task = solve.task(colour == 0 ? "red" : "black", bar);
            const auto now = task.modify(u.at(colour), ghosts(1));  // ghosts as they were before the task
            const auto largest = task.contribute(change);
            task.run([=](Here& here) {
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) {
                    if (i % 2 != colour) continue;
                    const double right = i == n - 1 ? double(here.step) : here[now](i + 1);
                    const double mean = ((i == 0 ? 0 : here[now](i - 1)) + right) / 2;
                    here[largest] = std::max(here[largest], std::abs(mean - here[now](i)));
                    here[now](i) = mean;
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
