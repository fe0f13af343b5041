// Patches and labels: the numbers 0 to 99 on 100 cells, in patches of 32, are doubled in each of three steps.
// Their sum is then 8 (0 + 1 + ... + 99) = 39600.
//   strata launch --layout 2x1 -- patches
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        Graph graph("patches");
        Grid& line = graph.grid("line", {.cells = {{0, 0, 0}, {100, 1, 1}}, .patch_cells = {32, 1, 1}});
        const auto u = graph.field<double>("u", line, On::cells);
        const auto total = graph.scalar<double>("total", Reduce::sum);
        {
            Task task = graph.start().task("number the cells", line);
            const auto first = task.make(u);
            task.run([=](Here& here) {
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) here[first](i) = i;
            });
        }
        {
            Task task = graph.step().task("double", line);
            const auto now = task.modify(u);
            const auto sum = task.contribute(total);
            task.run([=](Here& here) {
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) {
                    here[now](i) *= 2;
                    here[sum] += here[now](i);
                }
            });
        }
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(3);
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("%d patches, sum %g\n", line.patches(), run.value(total));
        return line.patches() == 4 && run.value(total) == 39600 ? 0 : 1;
    });
}
