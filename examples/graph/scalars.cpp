// Scalars: ten patches add 0.1 each. The sum is that of exact arithmetic, rounded once: 1, where a loop gives
// 0.9999999999999999. The largest speed in step s is s, the time step 1 / s; the time after four steps is
// 1 + 1/2 + 1/3 + 1/4 = 25/12.
//   strata launch --layout 2x1 -- scalars
#include <cmath>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        Graph graph("scalars");
        const Family& parts = graph.add<Family>("parts", 10);
        const auto total = graph.scalar<double>("total", Reduce::sum);
        const auto fastest = graph.scalar<double>("fastest", Reduce::max);
        const auto time = graph.scalar<double>("time", {.history = 1, .unit = "s"});
        {
            Task task = graph.step().task("measure", parts);
            const auto sum = task.contribute(total);
            const auto speed = task.contribute(fastest);
            task.run([=](Here& here) {
                here[sum] += 0.1;
                here[speed] = double(here.step) * (here.patch + 1) / 10;
            });
        }
        {
            Task task = graph.step().once("advance the clock");
            const auto speed = task.need(fastest);  // of this step: once all patches have been measured
            const auto before = task.need(time.previous());
            const auto now = task.make(time);
            task.run([=](Here& here) { here[now] = here[before] + 1 / here[speed]; });
        }
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(4);
        double loop = 0;
        for (int i = 0; i < 10; ++i) loop += 0.1;
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0)
            std::printf("sum %.16g, by a loop %.16g, time %.4f s\n", run.value(total), loop, run.value(time));
        const bool clock = std::abs(run.value(time) - 25.0 / 12) < 1e-15;
        return run.value(total) == 1 && loop < 1 && clock ? 0 : 1;
    });
}
