// Sums: each of 6 x 4 cells, of mass 1, gives a quarter of it to each node at its corners. A node inside then
// has 1, at an edge 1/2, at a corner 1/4; node (3, 2) has its four parts from four patches. Together: 24.
//   strata launch --layout 2x1 -- sums
#include <cstdint>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        Graph graph("sums");
        Grid& plate = graph.grid("plate", {.cells = {{0, 0, 0}, {6, 4, 1}}, .patch_cells = {3, 2, 1}});
        const auto mass = graph.field<double>("mass", plate, On::nodes);
        const auto total = graph.scalar<double>("total", Reduce::sum);
        const auto wrong = graph.scalar<std::int64_t>("wrong nodes", Reduce::sum);
        {
            Task task = graph.step().task("give to nodes", plate);
            const auto part = task.sum(mass, Sides({0, 0, 0}, {1, 1, 0}));  // one layer at the upper sides
            task.run([=](Here& here) {
                const Box& cells = here.cells();
                for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
                    for (int i = cells.lo[0]; i < cells.hi[0]; ++i)
                        for (const int up : {0, 1})
                            for (const int right : {0, 1}) here[part](i + right, j + up) += 0.25;
            });
        }
        {
            Task task = graph.step().task("compare", plate);
            const auto whole = task.need(mass);
            const auto sum = task.contribute(total);
            const auto count = task.contribute(wrong);
            task.run([=](Here& here) {
                const Box nodes = here[whole].box();
                for (int j = nodes.lo[1]; j < nodes.hi[1]; ++j)
                    for (int i = nodes.lo[0]; i < nodes.hi[0]; ++i) {
                        const double exact = (i % 6 == 0 ? 0.5 : 1.0) * (j % 4 == 0 ? 0.5 : 1.0);
                        here[sum] += here[whole](i, j);
                        here[count] += here[whole](i, j) != exact ? 1 : 0;
                    }
            });
        }
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(2);  // a sum begins with zero in each step
        const auto off = static_cast<int>(run.value(wrong));
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("total %g, wrong nodes %d\n", run.value(total), off);
        return run.value(total) == 24 && off == 0 ? 0 : 1;
    });
}
