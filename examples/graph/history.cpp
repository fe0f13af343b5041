// History: the wave equation on a ring of 24 cells by leap frog, two steps back, at a Courant number of 1:
//   u_i^(s+1) = u_(i-1)^s + u_(i+1)^s - u_i^(s-1)
// For that number the scheme is exact: a pulse f(i) that goes to the right is f(i - s) after s steps.
//   strata launch --layout 2x1 -- history
#include <cstdint>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        constexpr int n = 24;
        const auto pulse = [](std::int64_t i) { return ((i % n) + n) % n == 5 ? 1.0 : 0.0; };
        Graph graph("history");
        Grid& ring = graph.grid(
            "ring", {.cells = {{0, 0, 0}, {n, 1, 1}}, .patch_cells = {8, 1, 1}, .periodic = {true}});
        const auto u = graph.field<double>("u", ring, On::cells, {.history = 2});
        const auto wrong = graph.scalar<std::int64_t>("wrong cells", Reduce::sum);
        {
            Task task = graph.start().task("pulse", ring);
            const auto now = task.make(u);                // at step 0
            const auto before = task.make(u.previous());  // at step -1
            task.run([=](Here& here) {
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) {
                    here[now](i) = pulse(i);
                    here[before](i) = pulse(i + 1);
                }
            });
        }
        {
            Task task = graph.step().task("leap", ring);
            const auto old = task.need(u.previous(1), ghosts(1));
            const auto older = task.need(u.previous(2));
            const auto next = task.make(u);
            const auto count = task.contribute(wrong);
            task.run([=](Here& here) {
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) {
                    here[next](i) = here[old](i - 1) + here[old](i + 1) - here[older](i);
                    here[count] += here[next](i) != pulse(i - here.step) ? 1 : 0;
                }
            });
        }
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        std::int64_t all = 0;
        for (int step = 0; step < 3 * n; ++step) run.advance(1), all += run.value(wrong);
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("wrong cells in %d steps: %d\n", 3 * n, static_cast<int>(all));
        return all == 0 ? 0 : 1;
    });
}
