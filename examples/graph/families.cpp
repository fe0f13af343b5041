// Relations: 12 x 12 ones are added up along x on patches that have whole rows, and the result along y on
// patches that have whole columns. At (i, j) the sum of all to its lower left is (i + 1) (j + 1).
//   strata launch --layout 2x1 -- families
#include <cstdint>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        constexpr int n = 12;
        Graph graph("families");
        Grid& rows = graph.grid("rows", {.cells = {{0, 0, 0}, {n, n, 1}}, .patch_cells = {n, 3, 1}});
        Grid& columns = graph.grid("columns", {.cells = {{0, 0, 0}, {n, n, 1}}, .patch_cells = {4, n, 1}});
        const Overlap& turned = graph.add<Overlap>("rows to columns", rows, columns);
        const auto along_x = graph.field<double>("sum along x", rows, On::cells);
        const auto wrong = graph.scalar<std::int64_t>("wrong", Reduce::sum);
        const auto largest = graph.scalar<double>("largest", Reduce::max);
        {
            Task task = graph.step().task("add along x", rows);
            const auto sum = task.make(along_x);
            task.run([=](Here& here) {
                for (int j = here.cells().lo[1]; j < here.cells().hi[1]; ++j)
                    for (int i = 0; i < n; ++i) here[sum](i, j) = 1 + (i > 0 ? here[sum](i - 1, j) : 0);
            });
        }
        {
            Task task = graph.step().task("add along y", columns);
            const auto part = task.need(along_x, turned);  // the same indices, out of all patches of rows
            const auto count = task.contribute(wrong);
            const auto most = task.contribute(largest);
            task.run([=](Here& here) {
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) {
                    double sum = 0;
                    for (int j = 0; j < n; ++j) {
                        sum += here[part](i, j);
                        here[count] += sum != (i + 1) * (j + 1) ? 1 : 0;
                    }
                    if (here[most] < sum) here[most] = sum;
                }
            });
        }
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(1);
        const auto off = static_cast<int>(run.value(wrong));
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("largest %g, wrong %d\n", run.value(largest), off);
        return run.value(largest) == n * n && off == 0 ? 0 : 1;
    });
}
