// Whole lists on one patch: part p has p + 1 ones. One patch sees the lists of all 6 parts, 21 numbers, and
// makes their running sums, 1 to 21; each part takes its own back. Part 3, say, has 7, 8, 9 and 10.
//   strata launch --layout 2x1 -- collect
#include <cstdint>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        Graph graph("collect");
        const Family& parts = graph.add<Family>("parts", 6);
        const Family& one = graph.add<Family>("one", 1);
        const auto size = [](int p) { return std::int64_t{p + 1}; };
        const Collect& all = graph.add<Collect>("all", parts, one);
        const Gather& back = graph.add<Gather>("back", one, parts, all.back(size));
        const auto numbers = graph.list<int>("numbers", parts, size);
        const auto sums = graph.list<int>("sums", one, [](int) { return 21; });
        const auto right = graph.scalar<std::int64_t>("right", Reduce::sum);
        Task fill = graph.step().task("fill", parts);
        fill.run([to = fill.make(numbers)](Here& here) {
            for (int i = 0; i < here[to].size(); ++i) here[to][i] = 1;
        });
        {
            Task task = graph.step().task("add", one);
            const auto lists = task.need(numbers, all);
            const auto to = task.make(sums);
            task.run([=](Here& here) {
                int sum = 0;
                for (const int p : here[lists].patches())
                    for (int i = 0; i < here[lists].of(p).size(); ++i) {
                        sum += here[lists].of(p)[i];
                        here[to][here[lists].start(p) + i] = sum;
                    }
            });
        }
        Task compare = graph.step().task("compare", parts);
        const auto own = compare.need(sums, back);
        compare.run([=, count = compare.contribute(right)](Here& here) {
            const int p = here.patch, before = p * (p + 1) / 2;
            for (int i = 0; i < here[own].size(); ++i) here[count] += here[own][i] == before + i + 1;
        });
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(2);
        const auto exact = static_cast<int>(run.value(right));
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("%d of 21 sums are right\n", exact);
        return exact == 21 ? 0 : 1;
    });
}
