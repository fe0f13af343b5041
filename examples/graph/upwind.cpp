// Order within a task: sums over all cells to the lower left, s_ij = 1 + s_(i-1)j + s_i(j-1) - s_(i-1)(j-1),
// are (i + 1)(j + 1); a patch begins when those on its left and below are done. On the way back each cell
// adds what its right neighbour has now, and takes away what its left one had before: (n - i)(j + 1).
//   strata launch --layout 2x1 -- upwind
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        constexpr int n = 12;
        Graph graph("upwind");
        Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {n, n, 1}}, .patch_cells = {4, 3, 1}});
        const auto s = graph.field<double>("s", grid, On::cells);
        const auto error = graph.scalar<double>("error", Reduce::max);
        {
            Task task = graph.step().task("sum up", grid);
            const auto now = task.make(s);
            const auto before = task.need(s, upwind({1, 1, 0}).with_corners());  // what it made itself
            task.run([=](Here& here) {
                const auto at = [&](int i, int j) { return i < 0 || j < 0 ? 0 : here[before](i, j); };
                for (int j = here.cells().lo[1]; j < here.cells().hi[1]; ++j)
                    for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i)
                        here[now](i, j) = 1 + at(i - 1, j) + at(i, j - 1) - at(i - 1, j - 1);
            });
        }
        {
            Task task = graph.step().task("back", grid);
            const auto now =
                task.modify(s, upwind(0, -1));  // on the right as it is now, on the left as it was
            task.run([=](Here& here) {
                for (int j = here.cells().lo[1]; j < here.cells().hi[1]; ++j)
                    for (int i = here.cells().hi[0] - 1; i >= here.cells().lo[0]; --i) {
                        if (i + 1 < n) here[now](i, j) += here[now](i + 1, j);
                        if (i > 0) here[now](i, j) -= here[now](i - 1, j);
                    }
            });
        }
        Task task = graph.step().task("compare", grid);
        const auto end = task.need(s.at(1));
        const auto largest = task.contribute(error);
        task.run([=](Here& here) {
            for (int j = here.cells().lo[1]; j < here.cells().hi[1]; ++j)
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i)
                    here[largest] = std::max(here[largest], std::abs(here[end](i, j) - (n - i) * (j + 1)));
        });
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(2);
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("error of the sums %g\n", run.value(error));
        return run.value(error) == 0 ? 0 : 1;
    });
}
