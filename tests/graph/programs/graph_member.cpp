// A small graph on a team: what each patch has in the end, the same for any layout.
//   graph_member NAME STEPS [seed=N] [move=N] [die=N]     NAME: heat, heat-round, mixed, mixed-round
#include <fmt/format.h>
#include <signal.h>

#include <cstdlib>
#include <random>
#include <string>

#include "core/team/team.hpp"
#include "tests/graph/small.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::graph::testing;

namespace {

struct Asked {
    std::string name;
    std::int64_t steps = 10;
    std::uint64_t seed = 0;
    int move = 0;  // patches go anywhere, every so many steps
    int die = 0;   // member 1 is killed after so many steps
};

Asked read(int argc, char** argv) {
    Asked asked;
    asked.name = argv[1];
    asked.steps = std::atoll(argv[2]);
    for (int i = 3; i < argc; ++i) {
        const std::string word = argv[i];
        const auto number = [&] { return std::atoll(word.c_str() + word.find('=') + 1); };
        if (word.rfind("seed=", 0) == 0) asked.seed = static_cast<std::uint64_t>(number());
        if (word.rfind("move=", 0) == 0) asked.move = static_cast<int>(number());
        if (word.rfind("die=", 0) == 0) asked.die = static_cast<int>(number());
    }
    return asked;
}

/// Anywhere: the same in all processes.
Assignment anywhere(const Graph& graph, int processes, std::mt19937_64& random) {
    Assignment all;
    for (const auto& family : graph.families()) {
        all.owner.emplace_back();
        for (int p = 0; p < family->patches(); ++p)
            all.owner.back().push_back(static_cast<int>(random() % static_cast<std::uint64_t>(processes)));
    }
    return all;
}

void run(team::Team& team, Graph& graph, const Grid& grid, const Asked& asked) {
    Simulation run(
        graph, Members::of(team),
        {.crew = &team.crew(),
         .shuffle = {.seed =
                         asked.seed == 0 ? 0 : asked.seed + static_cast<std::uint64_t>(team.rank()) * 977}});
    run.start();
    std::mt19937_64 random(asked.seed + 5);
    const std::int64_t at_once = asked.move > 0 ? asked.move : asked.steps;
    for (std::int64_t done = 0; done < asked.steps;) {
        if (asked.move > 0 && done > 0) run.reassign(anywhere(graph, team.size(), random));
        if (asked.die > 0 && done >= asked.die && team.rank() == 1) raise(SIGKILL);
        done += run.advance(std::min(at_once, asked.steps - done));
    }
    auto all = team.arena().array<std::uint64_t>("hashes", static_cast<std::size_t>(grid.patches()));
    const auto& mine = run.plan().memory().patches()[0];
    const auto hashes = run.hashes(grid);
    for (std::size_t i = 0; i < mine.size(); ++i) all[static_cast<std::size_t>(mine[i])] = hashes[i];
    team.barrier();
    if (team.rank() != 0) return;
    for (std::size_t patch = 0; patch < all.size(); ++patch)
        fmt::print("patch {} {:016x}\n", patch, all[patch]);
}

}  // namespace

int main(int argc, char** argv) {
    return team::run(argc, argv, [&](team::Team& team) {
        const Asked asked = read(argc, argv);
        const GridShape& shape = asked.name.ends_with("round") ? kRound : kOpen;
        if (asked.name.starts_with("heat")) {
            Heat heat(shape);
            run(team, heat.graph, heat.grid, asked);
        } else {
            Mixed mixed(shape);
            run(team, mixed.graph, mixed.grid, asked);
        }
        return 0;
    });
}
