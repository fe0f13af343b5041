// Versions: in each step one task adds 1 to u, the next doubles it, and a third reads what lies between. They
// are added in the wrong order; the versions that they name put them right. From 1 on, x -> 2 (x + 1) gives
// 4, 10, 22, 46, 94 in five steps, and 47 lies between in the last of them.
//   strata launch --layout 2x1 -- versions
#include <algorithm>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        Graph graph("versions");
        const Family& parts = graph.add<Family>("parts", 6);
        const auto u = graph.list<double>("u", parts, [](int) { return 1; });
        const auto between = graph.scalar<double>("between", Reduce::max);
        const auto after = graph.scalar<double>("after", Reduce::max);
        {
            Task task = graph.step().task("double", parts);
            const auto now = task.modify(u.at(1));  // takes version 1, makes version 2 in its place
            const auto most = task.contribute(after);
            task.run([=](Here& here) {
                here[now][0] *= 2;
                here[most] = here[now][0];
            });
        }
        {
            Task task = graph.step().task("look", parts);  // done before "double" overwrites it
            const auto now = task.need(u.at(1));
            const auto most = task.contribute(between);
            task.run([=](Here& here) { here[most] = here[now][0]; });
        }
        {
            Task task = graph.step().task("add one", parts);
            const auto now = task.modify(u.at(0));  // version 0: what the step before left
            task.run([=](Here& here) { here[now][0] += 1; });
        }
        {
            Task task = graph.start().task("begin", parts);
            const auto first = task.make(u);
            task.run([=](Here& here) { here[first][0] = 1; });
        }
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(5);
        const double x = run.value(between), y = run.value(after);
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("between %g, after %g\n", x, y);
        return x == 47 && y == 94 ? 0 : 1;
    });
}
