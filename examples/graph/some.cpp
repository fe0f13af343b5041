// Tasks on some patches: values move one cell to the right in each step. The first patch lets s in at the
// left in step s, the last one counts what leaves at the right. After 40 steps on 30 cells u_i = 40 - i, and
// 1 + 2 + ... + 10 = 55 have left.
//   strata launch --layout 2x1 -- some
#include <cmath>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        constexpr int n = 30;
        Graph graph("some");
        Grid& line = graph.grid("line", {.cells = {{0, 0, 0}, {n, 1, 1}}, .patch_cells = {5, 1, 1}});
        const auto u = graph.field<double>("u", line, On::cells, {.history = 1});
        const auto left = graph.scalar<double>("left", Reduce::sum),
                   error = graph.scalar<double>("error", Reduce::max);
        const auto all = graph.scalar<double>("all that left", {.history = 1});
        Task empty = graph.start().task("empty", line);
        empty.run([u = empty.make(u)](Here& here) {
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) here[u](i) = 0;
        });
        Task move = graph.step().task("move", line);
        move.run([old = move.need(u.previous(), ghosts(1)), now = move.make(u)](Here& here) {
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i)
                here[now](i) = i > 0 ? here[old](i - 1) : 0;
        });
        Task in = graph.step().task("let in", line);
        in.on({0}).run([u = in.modify(u)](Here& here) { here[u](0) = double(here.step); });
        Task out = graph.step().task("count", line);
        out.on([&](int patch) { return line.at_border(patch, 0, 1); })
            .run([old = out.need(u.previous()), left = out.contribute(left)](Here& here) {
                here[left] = here[old](n - 1);
            });
        Task add = graph.step().once("add up");
        add.run([left = add.need(left), before = add.need(all.previous()), now = add.make(all)](Here& here) {
            here[now] = here[before] + here[left];
        });
        Task compare = graph.step().task("compare", line);  // u.at(1): with what was let in
        compare.run([u = compare.need(u.at(1)), error = compare.contribute(error)](Here& here) {
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i)
                here[error] =
                    std::max(here[error], std::abs(here[u](i) - std::max(0.0, double(here.step) - i)));
        });
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(40);
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("%g have left, error %g\n", run.value(all), run.value(error));
        return run.value(all) == 55 && run.value(error) == 0 ? 0 : 1;
    });
}
