// Small graphs on a team: what each patch has in the end, the same for any layout.
//   graph_member NAME[+NAME...] STEPS [seed=N] [move=N] [die=N] [save=FOLDER] [restore=FOLDER]
// Several run one after the other, and each line says which: a start under mpirun takes longer than the
// graph. NAME: heat, mixed, some, factored, asks, and -round; settled, deep, walk; sweeps, sweeps-boxes;
// families; quarter; dear. save: a checkpoint whenever patches move, before they do; restore: begins with the
// last one.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>

#include "core/graph/expand/plan.hpp"
#include "core/run/checkpoint/state.hpp"
#include "core/team/team.hpp"
#include "tests/graph/expand/subdomains.hpp"
#include "tests/graph/lines.hpp"
#include "tests/graph/simulation/asks.hpp"
#include "tests/graph/simulation/factored.hpp"
#include "tests/graph/simulation/families.hpp"
#include "tests/graph/simulation/order_of_patches.hpp"
#include "tests/graph/simulation/scoped.hpp"
#include "tests/graph/simulation/small.hpp"
#include "tests/graph/simulation/some.hpp"
#include "tests/graph/simulation/sweeps.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::graph::testing;

namespace {

struct Asked {
    std::string name;
    std::string before;  // what each line begins with
    std::int64_t steps = 10;
    std::uint64_t seed = 0;
    int move = 0;  // patches go anywhere, every so many steps
    int die = 0;   // member 1 is killed after so many steps
    std::string save, restore;
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
        if (word.rfind("save=", 0) == 0) asked.save = word.substr(5);
        if (word.rfind("restore=", 0) == 0) asked.restore = word.substr(8);
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

void print_hashes(team::Team& team, const Simulation& run, const Graph& graph,
                  const std::string& before = "") {
    std::string lines;  // patches are numbered through all families
    int first = 0;
    for (const FamilyId f : graph.families().ids()) {
        const auto& mine = run.plan().memory().patches()[f];
        const auto hashes = run.hashes(*graph.families()[f]);
        for (std::size_t i = 0; i < mine.size(); ++i)
            lines += fmt::format("{}patch {} {:016x}\n", before, first + mine[i], hashes[i]);
        first += graph.families()[f]->patches();
    }
    print_all(team, lines);
}

void run(team::Team& team, Graph& graph, const Asked& asked) {
    Simulation run(
        graph, Members::of(team),
        {.crew = &team.crew(),
         .shuffle = {.seed =
                         asked.seed == 0 ? 0 : asked.seed + static_cast<std::uint64_t>(team.rank()) * 977}});
    const StateName name{asked.name, "", 0};
    if (asked.restore.empty())
        run.start();
    else
        restore_state(run, graph, team, asked.restore, name);
    std::mt19937_64 random(asked.seed + 5);
    const std::int64_t at_once = asked.move > 0 ? asked.move : asked.steps;
    while (run.step() < asked.steps) {
        if (run.step() > 0 && !asked.save.empty()) save_state(run, graph, team, asked.save, name, 2);
        if (asked.move > 0 && run.step() > 0) run.reassign(anywhere(graph, team.size(), random));
        if (asked.die > 0 && run.step() >= asked.die && team.rank() == 1) raise(SIGKILL);
        run.advance(std::min(at_once, asked.steps - run.step()));
    }
    print_hashes(team, run, graph, asked.before);
}

constexpr int kEach = 40;  // particles a cell

/// All particles are in one quarter of the domain, and stay there; says how even they are shared out after
/// some steps, and what a step then takes.
void balance(team::Team& team, std::int64_t steps) {
    Graph graph("quarter");
    Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {32, 32, 1}}, .patch_cells = {2, 2, 1}});
    const auto work = [](const Box& box) { return box.lo[0] < 16 && box.lo[1] < 16 ? 4 * kEach : 0; };
    const SetId dust = graph.particles("dust", grid);
    const auto id = graph.particle_id(dust);
    const auto x = graph.particle<double>(dust, "x", {.components = 3});
    {
        Task task = graph.start().task("sow", grid);
        const auto who = task.make(id);
        const auto where = task.make(x);
        task.run([=](Here& here) {
            const Box box = here.cells();
            here.create(dust, work(box));
            for (std::int64_t i = 0; i < here[who].size(); ++i) {
                here[who][i] = std::int64_t{here.patch} * 4 * kEach + i;
                const double at[3] = {box.lo[0] + 0.5 + static_cast<double>(i % 2),
                                      box.lo[1] + 0.5 + static_cast<double>(i / 2 % 2), 0.5};
                for (int c = 0; c < 3; ++c) here[where].component(c)[static_cast<std::size_t>(i)] = at[c];
            }
        });
    }
    Task task = graph.step().task("work", grid);
    const auto where = task.modify(x.at(0));
    task.run([=](Here& here) {
        for (double& at : here[where].component(0)) {
            double y = at;
            for (int n = 0; n < 100; ++n) y = 0.5 * (y + at * at / y);  // stays what it is
            at = y;
        }
    });
    graph.step().relocate(dust, x.last());
    Simulation run(graph, Members::of(team), {.crew = &team.crew(), .balance = true});
    run.start();
    run.advance(steps);
    std::vector<double> load(static_cast<std::size_t>(team.size()), 0.0);
    double all = 0;
    for (int patch = 0; patch < grid.patches(); ++patch) {
        const int here = work(grid.box(patch));
        load[static_cast<std::size_t>(
            run.plan().assignment().owner.at(0)[static_cast<std::size_t>(patch)])] += here;
        all += here;
    }
    team.barrier();
    run.advance(3);
    const double step = team.together().reduce(run.batch().seconds / run.batch().steps,
                                               [](double a, double b) { return std::max(a, b); });
    std::int64_t hash = 0;
    for (const std::uint64_t each : run.hashes(grid)) hash ^= static_cast<std::int64_t>(each);
    hash = team.together().reduce(hash, [](std::int64_t a, std::int64_t b) { return a ^ b; });
    if (team.rank() != 0) return;
    fmt::print("patch 0 and all others {:016x}\n", static_cast<std::uint64_t>(hash));
    fmt::print("step {:.3f} ms\n", 1e3 * step);
    fmt::print("efficiency {:.3f}\n", all / team.size() / *std::max_element(load.begin(), load.end()));
}

/// Whether this process's dear subdomains come first in its order, by costs that were measured.
bool are_first(const Simulation& run, const std::vector<double>& seconds, double dear) {
    std::size_t mine = 0;
    const auto is_dear = [&](int patch) { return seconds[static_cast<std::size_t>(patch)] == dear; };
    for (const int patch : run.plan().memory().patches()[FamilyId(0)]) mine += is_dear(patch) ? 1 : 0;
    const auto order = patches_of(run.plan().step(), "step").at(0);
    return std::all_of(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(mine), is_dear);
}

/// Eight subdomains of process 0 take ten times as long as the others. Says how many moved when they first
/// did, how even loads are then, and whether costs are known to the owners that subdomains have later.
void dear(team::Team& team, std::int64_t steps) {
    constexpr double cheap = 2e-5, ten = 10 * cheap;
    Subdomains all;
    Simulation run(all.graph, Members::of(team), {.crew = &team.crew(), .balance = true});
    const std::vector<int> first = run.plan().assignment().owner[FamilyId(0)];
    int left = 8;
    for (std::size_t p = 0; p < first.size(); ++p)
        all.seconds[p] = first[p] == 0 && left > 0 ? --left, ten : cheap;
    run.start();
    while (run.step() < steps && run.balanced().moves.empty()) run.advance(1);
    const auto said = [&](const std::string& what, bool mine) {
        const bool of_all =
            team.together().reduce(int{mine}, [](int a, int b) { return std::min(a, b); }) == 1;
        if (team.rank() == 0) fmt::print("{} {}\n", what, of_all);
    };
    if (!run.balanced().moves.empty()) {
        const std::vector<int>& now = run.plan().assignment().owner[FamilyId(0)];
        std::vector<double> load(static_cast<std::size_t>(team.size()), 0.0);
        int moved = 0;
        for (std::size_t p = 0; p < now.size(); ++p) {
            load[static_cast<std::size_t>(now[p])] += all.seconds[p];
            moved += now[p] != first[p] ? 1 : 0;
        }
        if (team.rank() == 0)
            fmt::print("moved {}\nefficiency {:.3f}\n", moved,
                       (56 * cheap + 8 * ten) / team.size() / *std::max_element(load.begin(), load.end()));
        said("first after a move", are_first(run, all.seconds, ten));
    }
    // Every subdomain to another process, and the plan made again with the same owners: nothing is measured
    // in between.
    Assignment next = run.plan().assignment();
    for (int& owner : next.owner[FamilyId(0)]) owner = (owner + 1) % team.size();
    run.reassign(next);
    said("first with other owners", are_first(run, all.seconds, ten));
    run.reassign(next);
    said("first in a new plan", are_first(run, all.seconds, ten));
    const std::size_t moves = run.balanced().moves.size();
    run.advance(std::max(steps - run.step(), std::int64_t{0}));
    if (team.rank() == 0) fmt::print("moves later {}\n", run.balanced().moves.size() - moves);
    print_hashes(team, run, all.graph);
}

void run(team::Team& team, const Asked& asked) {
    const GridShape& shape = asked.name.ends_with("round") ? kRound : kOpen;
    if (asked.name == "quarter") {
        balance(team, asked.steps);
    } else if (asked.name == "dear") {
        dear(team, asked.steps);
    } else if (asked.name.starts_with("sweeps")) {
        Sweeps sweeps(shape, asked.name == "sweeps" ? std::vector<Box>{} : pinwheel());
        run(team, sweeps.graph, asked);
    } else if (asked.name == "families") {
        Families families;
        run(team, families.graph, asked);
    } else if (asked.name.starts_with("heat")) {
        Heat heat(shape);
        run(team, heat.graph, asked);
    } else if (asked.name.starts_with("factored")) {
        Factored factored(shape);
        run(team, factored.graph, asked);
    } else if (asked.name == "deep") {
        Deep deep(kRound, [&](int number) {  // all processes are in the same task of the team
            if (team.together().reduce(number, [](int a, int b) { return std::max(a, b); }) != number)
                throw Error("a process is in another task of the team");
        });
        run(team, deep.graph, asked);
    } else if (asked.name == "settled") {
        Settled settled(kRound);
        run(team, settled.graph, asked);
    } else if (asked.name == "walk") {
        Walk walk(kRound);
        run(team, walk.graph, asked);
    } else if (asked.name.starts_with("asks")) {
        Asks asks(shape);
        run(team, asks.graph, asked);
    } else if (asked.name.starts_with("some")) {
        Some some(shape);
        run(team, some.graph, asked);
    } else {
        Mixed mixed(shape);
        run(team, mixed.graph, asked);
    }
}

}  // namespace

int main(int argc, char** argv) {
    return team::run(argc, argv, [&](team::Team& team) {
        Asked asked = read(argc, argv);
        const bool several = asked.name.find('+') != std::string::npos;
        std::istringstream names(asked.name);
        while (std::getline(names, asked.name, '+')) {
            if (several) asked.before = asked.name + " ";
            run(team, asked);
        }
        return 0;
    });
}
