// Mistakes while a graph runs: a value that cannot be, a read beyond the ghosts that were declared, and a
// particle that goes too far. (Compiled with STRATA_CHECKED_GRAPH, which the second needs.)
//   ./stopped
#include <cmath>
#include <cstdio>
#include <functional>

#include "core/base/error.hpp"
#include "core/graph/simulation/simulation.hpp"

using namespace strata::graph;

/// Two steps of a graph with a particle in each of 16 cells, in patches of 4; `work` is done on patch 2 in
/// the second. 0 where that ends the run with an error, as it should.
int stopped(const std::function<void(Here&, FieldView<const double>, ListView<double>)>& work) {
    Graph graph("bar");
    Grid& line = graph.grid("line", {.cells = {{0, 0, 0}, {16, 1, 1}}, .patch_cells = {4, 1, 1}});
    const auto u = graph.field<double>("u", line, On::cells);
    const SetId set = graph.particles("dust", line);
    const auto x = graph.particle<double>(set, "x");
    {
        Task task = graph.start().task("begin", line);
        const auto first = task.make(u);
        const auto who = task.make(graph.particle_id(set));
        const auto at = task.make(x);
        task.run([=](Here& here) {
            here.create(set, 4);
            for (int i = 0; i < 4; ++i) {
                here[first](here.cells().lo[0] + i) = 1;
                here[who][i] = here.cells().lo[0] + i;
                here[at][i] = here.cells().lo[0] + i + 0.5;
            }
        });
    }
    Task task = graph.step().task("work", line);
    const auto around = task.need(u, ghosts(1));
    const auto at = task.modify(x);
    task.run([=](Here& here) {
        if (here.step == 2 && here.patch == 2) work(here, here[around], here[at]);
    });
    graph.step().relocate(set, x.last());
    try {
        Simulation run(graph, Members::alone());
        run.start();
        run.advance(2);
    } catch (const strata::Error& error) {
        std::printf("%s\n", error.text().c_str());
        return 0;
    }
    return 1;
}

int main() {
    return stopped([](Here& here, auto u, auto) {
               if (!std::isfinite(std::sqrt(u(8) - 2))) here.fail("the root of 'u' - 2 is no number");
           }) +
           stopped([](Here&, auto u, auto x) { x[0] += u(6); }) +
           stopped([](Here&, auto, auto x) { x[3] -= 8; });
}
