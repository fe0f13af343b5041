// Shared values: a bar of 12 elements of mass 1 in three pieces of four elements and five points; the last
// point of a piece is also the first of the next. Each element gives half of its mass to both of its points:
// a point has 1, also where pieces meet, and 1/2 at the two ends of the bar.
//   strata launch --layout 2x1 -- subdomains
#include <cstdint>
#include <cstdio>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        constexpr int pieces = 3, elements = 4;
        Graph graph("subdomains");
        const Family& bar = graph.add<Family>("pieces", pieces);
        std::vector<std::vector<Shared::Link>> links(pieces);  // (own entry, other piece, entry there)
        for (int p = 0; p + 1 < pieces; ++p) {
            links[static_cast<std::size_t>(p)].push_back({elements, p + 1, 0});
            links[static_cast<std::size_t>(p + 1)].push_back({0, p, elements});
        }
        const Shared& joints = graph.add<Shared>("joints", bar, links);
        const auto mass = graph.list<double>("mass", bar, [](int) { return elements + 1; });
        const auto wrong = graph.scalar<std::int64_t>("wrong points", Reduce::sum);
        {
            Task task = graph.step().task("give to points", bar);
            const auto part = task.sum(mass, joints);
            task.run([=](Here& here) {
                for (int e = 0; e < elements; ++e) {
                    here[part][e] += 0.5;
                    here[part][e + 1] += 0.5;
                }
            });
        }
        {
            Task task = graph.step().task("compare", bar);
            const auto whole = task.need(mass);
            const auto count = task.contribute(wrong);
            task.run([=](Here& here) {
                for (int i = 0; i <= elements; ++i) {
                    const int point = here.patch * elements + i;
                    const double exact = point % (pieces * elements) == 0 ? 0.5 : 1;
                    here[count] += here[whole][i] != exact ? 1 : 0;
                }
            });
        }
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(1);
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("wrong points %d\n", static_cast<int>(run.value(wrong)));
        return run.value(wrong) == 0 ? 0 : 1;
    });
}
