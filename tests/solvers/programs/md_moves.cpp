// Some 2,000 atoms of a melt, 30 steps, in the processes of a team; prints a hash for each patch.
//   md_moves EVERY
// EVERY so many steps all patches go to the next process, between rebuilds of their lists; 0: they stay.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"
#include "solvers/md/tasks.hpp"
#include "tests/graph/lines.hpp"

namespace {

using namespace strata;
using namespace strata::graph;

int go(team::Team& team, std::int64_t every) {
    md::Settings s;
    s.cells = {8, 8, 8}, s.density = 0.8442, s.temperature = 1.44, s.patches = {3, 2, 2};
    s.steps = 30, s.thermo = 10;
    md::complete(s, md::schema(s));
    Graph graph("md");
    const md::Labels l = md::declare(graph, s);
    Simulation run(graph, Members::of(team), {.crew = &team.crew()});
    run.start();
    while (run.step() < s.steps) {
        run.advance(every > 0 ? std::min(every, s.steps - run.step()) : s.steps);
        if (every == 0) break;
        Assignment other = run.plan().assignment();
        for (int& owner : other.owner[FamilyId(0)]) owner = (owner + 1) % team.size();
        run.reassign(other);
    }
    const Grid& box = static_cast<const Grid&>(*graph.families().front());
    const std::vector<int>& own = run.plan().memory().patches()[FamilyId(0)];
    const std::vector<std::uint64_t> hashes = run.hashes(box);
    std::string lines;
    for (std::size_t i = 0; i < own.size(); ++i)
        lines += fmt::format("patch {} hash {:016x}\n", own[i], hashes[i]);
    graph::testing::print_all(team, lines);
    if (team.rank() == 0) fmt::print("rebuilds {}\n", run.value(l.rebuilds));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    return team::run(argc, argv, [&](team::Team& team) { return go(team, std::atoi(argv[1])); });
}
