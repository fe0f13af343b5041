// Several numbers in one reduction. A thousand masses of 0.1 lie at x = 0 to 999: their sum, and that of m x,
// give the centre 499.5. In step s the first s power sums of 1/x are asked for: as many as the round needs.
//   strata launch --layout 2x1 -- several
#include <cmath>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        Graph graph("several");
        const Family& parts = graph.add<Family>("parts", 10);
        const auto moments = graph.scalar<std::array<double, 2>>("moments", Reduce::sum);
        const auto powers = graph.scalars<double>("powers", Reduce::sum, 4);
        const auto centre = graph.scalar<double>("centre");
        {
            Task task = graph.step().task("weigh", parts);
            const auto mine = task.contribute(moments);
            const auto sums = task.contribute(powers);
            task.run([=](Here& here) {
                here[sums].resize(here.step);
                for (int x = here.patch * 100; x < here.patch * 100 + 100; ++x) {
                    here[mine][0] += 0.1;
                    here[mine][1] += 0.1 * x;
                    for (int k = 0; k < here[sums].size(); ++k) here[sums][k] += std::pow(1.0 / (x + 1), k);
                }
            });
        }
        {
            Task task = graph.step().once("find the centre");
            const auto of = task.need(moments);
            const auto x = task.make(centre);
            task.run([=](Here& here) { here[x] = here[of][1] / here[of][0]; });
        }
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(3);
        team.barrier();                         // nobody frees its patches while others read them
        const auto sums = run.numbers(powers);  // 1000, the harmonic number, about pi^2 / 6
        if (team.rank() == 0)
            std::printf("centre %.10g, %zu power sums: %g %.12g %.12g\n", run.value(centre), sums.size(),
                        sums[0], sums[1], sums[2]);
        const bool right =
            std::abs(sums[1] - 7.485470860550345) < 1e-12 && std::abs(sums[2] - 1.643934566681560) < 1e-12;
        return sums.size() == 3 && sums[0] == 1000 && right && std::abs(run.value(centre) - 499.5) < 1e-9 ? 0
                                                                                                          : 1;
    });
}
