// Runs a cloud of particles in the processes of a team and prints a hash for each patch.
//   graph_particles KIND STEPS HOPS FAST THREADS SEED EVERY [save=FOLDER | restore=FOLDER]
// KIND near, near-narrow, near-half, near-open: particles with halos (swarm.hpp); HOPS and FAST do not
// matter. Else a cloud, drift, say. KIND told-...: the task that moves the particles says which are no longer
// in their cells. EVERY so many steps patches go to any processes (0: they stay). save: writes a checkpoint
// at the end. restore: begins with the one in the folder.
#include <fmt/format.h>

#include <cstdlib>

#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "core/run/checkpoint/state.hpp"
#include "core/team/team.hpp"
#include "tests/graph/lines.hpp"
#include "tests/graph/particles/cloud.hpp"
#include "tests/graph/particles/swarm.hpp"

using namespace strata;
using namespace strata::tests;

namespace {

/// Any process may have any patch.
Assignment scattered(const Graph& graph, int processes, std::uint64_t seed) {
    Assignment all = assign(graph, processes);
    for (auto& family : all.owner)
        for (std::size_t p = 0; p < family.size(); ++p)
            family[p] = static_cast<int>(mixed(seed + p) % static_cast<std::uint64_t>(processes));
    return all;
}

/// FOLDER of NAME=FOLDER; "" where it is another word.
std::string folder_of(const std::string& word, const std::string& name) {
    return word.starts_with(name + "=") ? word.substr(name.size() + 1) : "";
}

/// `cloud`: a Cloud or a Swarm.
template <class Particles>
int go(team::Team& team, Particles& cloud, char** argv) {
    const std::int64_t steps = std::atoi(argv[2]);
    const auto seed = static_cast<std::uint64_t>(std::atoll(argv[6]));
    const std::int64_t at_once = std::atoi(argv[7]) == 0 ? steps : std::atoi(argv[7]);
    SimulationOptions options;
    options.threads = std::atoi(argv[5]);
    if (seed != 0) options.shuffle.seed = seed + static_cast<std::uint64_t>(team.rank()) * 7919;
    Simulation run(cloud.graph(), Members::of(team), options);
    const std::string last = argv[8];
    const std::string save = folder_of(last, "save"), from = folder_of(last, "restore");
    if (from.empty())
        run.start();
    else
        restore_state(run, cloud.graph(), team, from, {"cloud", "", 0});
    while (run.step() < steps) {
        run.advance(std::min(at_once, steps - run.step()));
        if (run.step() < steps)
            run.reassign(
                scattered(cloud.graph(), team.size(), seed + static_cast<std::uint64_t>(run.step())));
    }
    if (!save.empty()) save_state(run, cloud.graph(), team, save, {"cloud", "", 0}, 1);
    const Populations& all = run.plan().memory().populations();
    const std::vector<int>& own = run.plan().memory().patches()[all.family(cloud.set())];
    const std::vector<std::uint64_t> hashes = run.hashes(cloud.grid());
    std::string lines;
    for (std::size_t i = 0; i < own.size(); ++i)
        lines += fmt::format("patch {} count {} hash {:016x}\n", own[i],
                             all.own(cloud.set(), static_cast<int>(i)).count, hashes[i]);
    graph::testing::print_all(team, lines);
    if (team.rank() == 0) fmt::print("number {}\n", run.value(cloud.number()));
    return 0;
}

int go(team::Team& team, char** argv) {
    Flight flight;
    flight.kind = argv[1];
    if (flight.kind.starts_with("near")) {
        SwarmShape shape;
        if (flight.kind == "near-open")
            shape.periodic = {false, true, false}, shape.beyond = 2.5, shape.fast = 0.2;
        else if (flight.kind != "near")
            shape.patch_cells = {1, 2, 1}, shape.hops = 0;
        if (flight.kind == "near-half") shape.side = HaloSide::half;
        Swarm<> swarm(shape);
        return go(team, swarm, argv);
    }
    if (flight.kind.starts_with("told-")) {
        flight.tells = true;
        flight.kind.erase(0, 5);
    }
    flight.hops = std::atoi(argv[3]);
    flight.fast = std::atof(argv[4]);
    Cloud cloud(flight);
    return go(team, cloud, argv);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 9) return 2;
    return team::run(argc, argv, [&](team::Team& team) { return go(team, argv); });
}
