// Of unequal patches the longest start first: the order of operations by measured costs.
#include <ctime>
#include <map>

#include "core/graph/expand/longest_first.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/graph/resolve/resolved.hpp"
#include "tests/catch.hpp"
#include "tests/graph/simulation/order_of_patches.hpp"
#include "tests/graph/simulation/sweeps.hpp"

using namespace strata::graph;
using namespace strata::graph::testing;

namespace {

/// 16 patches.
const GridShape kSquare{.cells = {{0, 0, 0}, {8, 8, 1}}, .patch_cells = {2, 2, 1}};

VectorBy<FamilyId, std::vector<double>> even_costs(const Graph& graph) {
    VectorBy<FamilyId, std::vector<double>> costs;
    for (const auto& family : graph.families())
        costs.emplace_back(static_cast<std::size_t>(family->patches()), 1.0);
    return costs;
}

}  // namespace

TEST_CASE("costs below twice the mean are all alike; each doubling beyond is a class of its own") {
    const OwnPatches own(1, {0, 1, 2, 3, 4, 5});
    // The mean of this process's patches is 4.
    const CostClasses classes = cost_classes({1, {1, 7.9, 1.6, 1.5, 1, 11, 1000}}, own);
    CHECK(classes[FamilyId(0)] == std::vector<std::uint8_t>{0, 0, 0, 0, 0, 1, 0});
    CHECK(cost_classes({1, {0, 0, 0, 0, 0, 24, 0}}, own)[FamilyId(0)][5] == 2);
    CHECK(cost_classes({1, std::vector<double>(7, 0)}, own)[FamilyId(0)] == std::vector<std::uint8_t>(7, 0));
}

TEST_CASE(
    "dear patches go first in every thread's list, and back to their places when they are dear no more") {
    Heat heat(kSquare);
    const Resolved resolved = resolve(heat.graph);
    const Members members = Members::alone();
    Plan plan(heat.graph, resolved, assign(heat.graph, 1), members, 2, 0);
    const auto first = patches_of(plan.step(), "diffuse");
    auto costs = even_costs(heat.graph);
    CHECK(!plan.start_longest_first(costs));
    const int dear = first[0].back(), dearest = first[0][3], other = first[1].back();
    auto& of = costs[FamilyId(0)];
    of[static_cast<std::size_t>(dear)] = of[static_cast<std::size_t>(other)] = 12;
    of[static_cast<std::size_t>(dearest)] = 40;
    CHECK(plan.start_longest_first(costs));
    CHECK(!plan.start_longest_first(costs));
    const auto now = patches_of(plan.step(), "diffuse");
    CHECK(std::vector(now[0].begin(), now[0].begin() + 2) == std::vector{dearest, dear});
    CHECK(now[1].front() == other);
    auto rest = first[0];
    std::erase_if(rest, [&](int patch) { return patch == dear || patch == dearest; });
    CHECK(std::vector(now[0].begin() + 2, now[0].end()) == rest);
    CHECK(plan.start_longest_first(even_costs(heat.graph)));
    CHECK(patches_of(plan.step(), "diffuse") == first);
}

TEST_CASE("a sweep keeps its order, whatever its patches cost") {
    Sweeps sweeps(kOpen);
    const Resolved resolved = resolve(sweeps.graph);
    const Members members = Members::alone();
    Plan plan(sweeps.graph, resolved, assign(sweeps.graph, 1), members, 2, 0);
    std::map<std::string, std::vector<std::vector<int>>> first;
    for (const TaskInfo& task : sweeps.graph.tasks())
        if (order_of(task).towards != Int3{}) first[task.name] = patches_of(plan.step(), task.name);
    REQUIRE(!first.empty());
    auto costs = even_costs(sweeps.graph);
    for (auto& family : costs) family.back() = 100;
    (void)plan.start_longest_first(costs);
    for (const auto& [task, patches] : first) CHECK(patches_of(plan.step(), task) == patches);
}

TEST_CASE("a run on several threads orders its operations by what they cost, and no bit changes") {
    // A patch that costs CPU time, on one process: nothing moves.
    constexpr int dear = 14;
    const auto run = [&](int threads, bool balance) {
        Graph graph("unequal");
        Grid& grid = graph.grid("grid", kSquare);
        const auto u = graph.field<double>("u", grid, On::cells, {.history = 1});
        Task begin = graph.start().task("begin", grid);
        begin.run([now = begin.make(u)](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) { here[now](i, j, k) = i + 0.1 * j; });
        });
        Task task = graph.step().task("work", grid);
        const auto old = task.need(u.previous(), ghosts(1));
        const auto now = task.make(u);
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                const int left = std::max(i - 1, 0), below = std::max(j - 1, 0);
                here[now](i, j, k) = 0.3 * here[old](left, j, k) + 0.7 * here[old](i, below, k);
            });
            timespec t{};
            const auto cpu = [&] {
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
                return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
            };
            const double until = cpu() + (here.patch == dear ? 1e-3 : 2e-5);
            while (cpu() < until) {
            }
        });
        Simulation simulation(graph, Members::alone(), {.threads = threads, .balance = balance});
        simulation.start();
        simulation.advance(30);
        int first = 0;
        for (const auto& patches : patches_of(simulation.plan().step(), "work"))
            first += !patches.empty() && patches.front() == dear ? 1 : 0;
        CHECK(first == (balance ? 1 : 0));
        CHECK(simulation.balanced().moves.empty());
        CHECK((simulation.balanced().looks > 0) == balance);
        return simulation.hashes(grid);
    };
    CHECK(run(2, true) == run(1, false));
}
