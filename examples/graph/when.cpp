// Scopes within scopes: every third step a count gains 1, then 10 twice over. After nine steps that is
// 3 (1 + 2 10) = 63.
//   strata launch --layout 2x1 -- when
#include <cstdint>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        Graph graph("when");
        const Family& parts = graph.add<Family>("parts", 4);
        const auto count = graph.list<std::int64_t>("count", parts, [](int) { return 1; });
        const auto rest = graph.scalar<std::int64_t>("rest", Reduce::max);
        const auto total = graph.scalar<std::int64_t>("total", Reduce::max);
        const auto add = [&](Scope& scope, const char* name, auto version, std::int64_t what) {
            Task task = scope.task(name, parts);
            const auto now = task.modify(version);
            task.run([=](Here& here) { here[now][0] += what; });
        };
        {
            Task task = graph.start().task("zero", parts);
            const auto first = task.make(count);
            task.run([=](Here& here) { here[first][0] = 0; });
        }
        {
            Task task = graph.step().task("divide by three", parts);
            const auto now = task.contribute(rest);
            task.run([=](Here& here) { here[now] = here.step % 3; });
        }
        Scope& third = graph.step().when<std::int64_t>("every third step", rest.at(0),
                                                       [](std::int64_t r) { return r == 0; });
        add(third, "add 1", count.at(0), 1);
        Scope& twice = third.subcycle("twice", 2).takes(count.at(1));  // after "add 1"
        add(twice, "add 10", count.at(0), 10);
        {
            Task task = graph.step().task("look", parts);
            const auto now = task.need(count.last());
            const auto most = task.contribute(total);
            task.run([=](Here& here) { here[most] = here[now][0]; });
        }
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(9);
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("count %d\n", static_cast<int>(run.value(total)));
        return run.value(total) == 63 ? 0 : 1;
    });
}
