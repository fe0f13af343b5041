// Solvers on a team: what each patch has in the end, the same for any layout.
//   solver_member NAME[+NAME...] STEPS [seed=N] [move=N]
// NAME: as make_solver() knows; several run one after the other, and each line says which. seed: a random
// order, with delays. move: patches go anywhere, every so many steps.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>

#include "core/team/team.hpp"
#include "tests/graph/lines.hpp"
#include "tests/graph/solvers/solver.hpp"

using namespace strata;
using namespace strata::tests;

namespace {

struct Asked {
    std::string name;
    std::int64_t steps = 10, move = 0;
    std::uint64_t seed = 0;
};

Asked read(int argc, char** argv) {
    Asked asked{argv[1], std::atoll(argv[2])};
    for (int i = 3; i < argc; ++i) {
        const std::string word = argv[i];
        const auto number = [&] { return std::atoll(word.c_str() + word.find('=') + 1); };
        if (word.starts_with("seed=")) asked.seed = static_cast<std::uint64_t>(number());
        if (word.starts_with("move=")) asked.move = number();
    }
    return asked;
}

/// Anywhere: the same in all processes.
graph::Assignment anywhere(const graph::Graph& graph, int processes, std::mt19937_64& random) {
    graph::Assignment all;
    for (const auto& family : graph.families()) {
        all.owner.emplace_back();
        for (int p = 0; p < family->patches(); ++p)
            all.owner.back().push_back(static_cast<int>(random() % z(processes)));
    }
    return all;
}

void run(team::Team& team, const Asked& asked, const std::string& name) {
    const auto solver = make_solver(name);
    graph::SimulationOptions options;
    options.crew = &team.crew();
    if (asked.seed != 0) options.shuffle.seed = asked.seed + z(team.rank()) * 977;
    graph::Simulation run(solver->graph, graph::Members::of(team), options);
    run.start();
    std::mt19937_64 random(asked.seed + 5);
    const std::int64_t at_once = asked.move > 0 ? asked.move : asked.steps;
    for (std::int64_t done = 0; done < asked.steps;) {
        if (asked.move > 0 && done > 0) run.reassign(anywhere(solver->graph, team.size(), random));
        done += run.advance(std::min(at_once, asked.steps - done));
    }
    std::vector<std::uint64_t> mine(patches_of(*solver), 0);
    write_fingerprints(*solver, run, mine);
    std::string lines;
    for (std::size_t patch = 0; patch < mine.size(); ++patch)
        if (mine[patch] != 0) lines += fmt::format("{} patch {} {:016x}\n", name, patch, mine[patch]);
    graph::testing::print_all(team, lines);
}

}  // namespace

int main(int argc, char** argv) {
    return team::run(argc, argv, [&](team::Team& team) {
        const Asked asked = read(argc, argv);
        std::istringstream names(asked.name);
        for (std::string name; std::getline(names, name, '+');) run(team, asked, name);
        return 0;
    });
}
