// The first assignment of patches to processes: by declared work, by position and by what patches exchange.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <numeric>
#include <set>

#include "core/graph/expand/assign/assigning.hpp"
#include "core/graph/expand/assign/partition.hpp"
#include "core/graph/expand/assign/reassigning.hpp"
#include "core/graph/expand/halos/halo.hpp"
#include "tests/catch.hpp"
#include "tests/graph/expand/loads.hpp"
#include "tests/graph/expand/played_team.hpp"
#include "tests/graph/expand/subdomains.hpp"
#include "tests/graph/simulation/families.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::graph::detail;
using namespace strata::tests;

namespace {

/// A task that makes a field of the family, with so many floating point operations for each cell.
Field<double> add_work(Graph& graph, Grid& grid, double flops) {
    const auto made = graph.field<double>("of " + grid.name(), grid, On::cells, {.history = 1});
    Task task = graph.step().task("make " + grid.name(), grid);
    (void)task.make(made);
    task.work(flops, 0);
    task.run([](Here&) {});
    return made;
}

Grid& square(Graph& graph, const std::string& name, int cells, int patch) {
    return graph.grid(name, {.cells = {{0, 0, 0}, {cells, cells, 1}}, .patch_cells = {patch, patch, 1}});
}

}  // namespace

TEST_CASE("patches of unequal size and work are shared out by both") {
    Graph graph("uneven");
    std::vector<Box> boxes;  // columns of 1, 2, ... 40 cells in x
    for (int i = 1, x = 0; i <= 40; x += i++) boxes.push_back({{x, 0, 0}, {x + i, 16, 1}});
    Grid& grid = graph.add<Grid>("columns", GridShape{.cells = {{0, 0, 0}, {820, 16, 1}}}, boxes);
    (void)add_work(graph, grid, 1000);
    Task heavy = graph.step().task("heavy", grid);  // twice as much as all else, on the first ten
    heavy.on([](int patch) { return patch < 10; }).work(2000, 0).run([](Here&) {});
    const PatchCosts costs = declared_costs(graph);
    CHECK(costs.front()[9] == Approx(3 * 160 * 1000 / 4e9).epsilon(0.01));
    CHECK(costs.front()[10] == Approx(176 * 1000 / 4e9).epsilon(0.01));
    for (const int processes : {2, 3, 5, 8}) {
        const std::vector<double> all = loads(costs, assign(graph, processes), processes);
        CAPTURE(processes);
        CHECK(longest(all) <= mean(all) + 0.5 * costs.front().back());
    }
}

TEST_CASE(
    "work is counted in each round of a subcycle, on the patches on which it runs, and not in the start") {
    Graph graph("rounds");
    Grid& grid = square(graph, "grid", 8, 4);
    graph.start().task("first", grid).work(1e6, 0).run([](Here&) {});
    Scope& rounds = graph.step().subcycle("rounds", 5);
    rounds.task("often", grid).work(4e6, 0).run([](Here&) {});
    const auto counts = graph.list<double>("counts", graph.add<Family>("plain", 2),
                                           [](int patch) { return patch == 0 ? 1000 : 4'000'000; });
    Task undeclared = graph.step().task("lists", *graph.labels()[counts.id()].family);
    (void)undeclared.make(counts);
    undeclared.run([](Here&) {});
    const PatchCosts costs = declared_costs(graph);
    CHECK(costs[FamilyId(0)][3] == Approx(5 * 16 * 1e-3).epsilon(1e-3));
    CHECK(costs[FamilyId(1)][0] == Approx(1e-6).epsilon(0.5));  // 8 kB, and the calls themselves
    CHECK(costs[FamilyId(1)][1] == Approx(4e-3).epsilon(1e-3));
}

TEST_CASE("families of one patch go to different processes, those that exchange most to the same one") {
    Graph graph("zones");
    std::vector<Grid*> zones;
    std::vector<Field<double>> made;
    for (int zone = 0; zone < 12; ++zone) {
        zones.push_back(&square(graph, fmt::format("zone {}", zone), 20 + zone, 40));
        made.push_back(add_work(graph, *zones.back(), 1000));
    }
    PatchCosts costs = declared_costs(graph);
    for (const int processes : {2, 4, 5}) {
        const std::vector<double> all = loads(costs, assign(graph, processes), processes);
        CAPTURE(processes);
        CHECK(longest(all) <= 4.0 / 3 * mean(all));  // Graham's bound for the largest first
        CHECK(*std::min_element(all.begin(), all.end()) > 0);
    }
    Graph pairs("pairs");  // 0 with 3 and 1 with 2, all of one size: loads do not tell
    zones.clear(), made.clear();
    for (int zone = 0; zone < 4; ++zone) {
        zones.push_back(&square(pairs, fmt::format("zone {}", zone), 40, 40));
        made.push_back(add_work(pairs, *zones.back(), 1000));
    }
    for (const auto& [to, from] : {std::pair{3, 0}, {2, 1}}) {
        Gather::Table table(1);
        for (int n = 0; n < 1600; ++n) table[0].push_back({0, n});
        const auto& gather =
            pairs.add<Gather>(fmt::format("to {}", to), *zones[z(from)], *zones[z(to)], table);
        Task task = pairs.step().task(fmt::format("take {}", to), *zones[z(to)]);
        (void)task.need(made[z(from)].previous(), gather);
        task.run([](Here&) {});
    }
    const Assignment all = assign(pairs, 2);
    CHECK(all.owner[FamilyId(0)] == all.owner[FamilyId(3)]);
    CHECK(all.owner[FamilyId(1)] == all.owner[FamilyId(2)]);
    CHECK(all.owner[FamilyId(0)] != all.owner[FamilyId(1)]);
}

TEST_CASE("a single patch that is as dear as a third of all leaves its process little else") {
    Graph graph("ship");
    (void)add_work(graph, square(graph, "sea", 80, 10), 1000);
    (void)add_work(graph, square(graph, "ship", 56, 56), 1000);
    const PatchCosts costs = declared_costs(graph);
    for (const int processes : {2, 3}) {
        const Assignment all = assign(graph, processes);
        CHECK(longest(loads(costs, all, processes)) < 1.05 * mean(loads(costs, all, processes)));
    }
}

TEST_CASE("families that run in turn, each on all values of the one before, are shared out one by one") {
    for (const auto& [pencils, processes] : {std::pair{6, 4}, {7, 3}, {9, 4}, {10, 4}, {12, 7}}) {
        Graph graph("transposes");
        const Box domain{{0, 0, 0}, {16 * pencils, 16 * pencils, 1}};
        Grid& rows = graph.grid("rows", {.cells = domain, .patch_cells = {16 * pencils, 16, 1}});
        Grid& columns = graph.grid("columns", {.cells = domain, .patch_cells = {16, 16 * pencils, 1}});
        const auto u = add_work(graph, rows, 1e4);
        (void)add_work(graph, columns, 1e4);
        Task task = graph.step().task("transpose", columns);
        (void)task.need(u.at(0), graph.add<Overlap>("columns of rows", rows, columns));
        task.run([](Here&) {});
        const Assignment all = assign(graph, processes);
        CAPTURE(pencils, processes);
        for (const auto& owners : all.owner) {
            std::vector<int> count(z(processes), 0);
            for (const int owner : owners) ++count[z(owner)];
            CHECK(*std::max_element(count.begin(), count.end()) == (pencils + processes - 1) / processes);
        }
    }
}

TEST_CASE(
    "levels of a grid lie along one curve as Overlap says, and plain families where their values come from") {
    Graph graph("levels");
    Grid& coarse = square(graph, "coarse", 16, 4);
    Grid& fine = graph.add<Grid>("fine", GridShape{.cells = {{0, 0, 0}, {32, 32, 1}}},
                                 std::vector<Box>{{{24, 24, 0}, {32, 32, 1}}, {{0, 0, 0}, {8, 8, 1}}});
    Family& gauges = graph.add<Family>("gauges", 2);
    const auto& under =
        graph.add<Overlap>("under", coarse, fine, Overlap::Level::source_coarser, 2, Int3{0, 0, 0});
    const auto& seen = graph.add<Gather>("seen", fine, gauges, Gather::Table{{{1, 0}}, {{0, 0}}});
    const auto u = add_work(graph, coarse, 1), v = add_work(graph, fine, 1);
    Task refine = graph.step().task("refine", fine);
    (void)refine.need(u.at(0), under);
    refine.run([](Here&) {});
    Task look = graph.step().task("look", gauges);
    (void)look.need(v.at(0), seen);
    look.run([](Here&) {});
    const PatchCosts costs = declared_costs(graph);
    const std::vector<double> places = places_along(graph, costs, find_exchanges(graph).transfers);
    std::vector<int> sequence(places.size());
    std::iota(sequence.begin(), sequence.end(), 0);
    std::stable_sort(sequence.begin(), sequence.end(),
                     [&](int a, int b) { return places[z(a)] < places[z(b)]; });
    const auto together = [&](std::set<int> numbers) {  // they follow each other
        const auto first =
            std::find_if(sequence.begin(), sequence.end(), [&](int n) { return numbers.contains(n); });
        return std::all_of(first, first + 3, [&](int n) { return numbers.contains(n); });
    };
    CHECK(together({15, 16, 19}));  // fine patch 0 covers coarse patch 15, and gauge 1 looks at it
    CHECK(together({0, 17, 18}));   // fine patch 1 covers coarse patch 0, and gauge 0 looks at it
}

TEST_CASE("the estimate counts what plans copy into halos, and what families take from other processes") {
    if (!is_planned("transport-heat")) CANNOT_TRY("the solvers are not built");
    const Graph& graph = planned("transport-heat");
    const Exchanges exchanges = find_exchanges(graph);
    PatchCosts nothing = declared_costs(graph);
    for (auto& family : nothing) std::fill(family.begin(), family.end(), 0.0);
    REQUIRE(graph.families().size() == 1);
    REQUIRE(!exchanges.layers.empty());
    const auto& grid = static_cast<const Grid&>(*graph.families().front());
    for (const int processes : {1, 3, 5}) {
        const Assignment all = assign(graph, processes);
        double most = 0;
        for (int process = 0; process < processes; ++process) {
            const std::vector<int> own = all.of(process)[FamilyId(0)];
            const Division division = divide(grid, own);
            double bytes = 0;
            for (const Layers& one : exchanges.layers) {
                const FieldLayout layout = lay_out(division, one.on, one.border, one.width, 8);
                for (const SourceBox& fill : find_fills(layout, one.width).all)
                    bytes += one.bytes * static_cast<double>(fill.box.volume());
            }
            most = std::max(most, bytes);
        }
        CHECK(step_time(graph, nothing, exchanges, all.owner, processes) == Approx(most / kCopiedEachSecond));
    }
    Graph two("two");
    Grid& a = square(two, "a", 8, 8);
    Grid& b = square(two, "b", 8, 8);
    const auto made = add_work(two, a, 4e6);
    (void)add_work(two, b, 1e6);
    Task take = two.step().task("take", b);
    (void)take.need(made.at(0), two.add<Overlap>("ab", a, b));
    take.run([](Here&) {});
    const auto time = [&](int of_a, int of_b) {
        return step_time(two, {{64e-3}, {16e-3}}, find_exchanges(two), {{of_a}, {of_b}}, 2);
    };
    CHECK(time(0, 0) == Approx(80e-3));
    CHECK(time(0, 1) == Approx(80e-3 + 64 * 8 / kCopiedEachSecond));  // b waits for a
}

TEST_CASE("METIS is taken where a step is estimated to be shorter so; its answer is that of all processes") {
    if (!is_planned("transport-heat")) CANNOT_TRY("the solvers are not built");
    graph::testing::Subdomains subdomains;
    for (const Graph* graph :
         {&std::as_const(subdomains.graph), &planned("overset"), &planned("transport-heat")})
        for (const int processes : {3, 4}) {
            CAPTURE(graph->name(), processes);
            const PatchCosts costs = declared_costs(*graph);
            const Exchanges exchanges = find_exchanges(*graph);
            const Assignment without = assign(*graph, processes);
            const Assignment with = assign(*graph, processes, Library::where_found);
            const auto time = [&](const Assignment& of) {
                return step_time(*graph, costs, exchanges, of.owner, processes);
            };
            CHECK(time(with) <= time(without));
            if (graph == &subdomains.graph) CHECK((time(with) < 0.9 * time(without)) == can_partition());
            if (!can_partition()) CHECK(with.owner == without.owner);
            std::vector<Assignment> told(z(processes));
            PlayedTeam(processes, 2).run([&](const Members& members) {
                told[z(members.rank)] = assign(*graph, members, 7);
            });
            for (const Assignment& each : told) {
                CHECK(each.owner == with.owner);
                CHECK(each.local == with.local);
            }
        }
}

TEST_CASE("METIS gives nearly equal loads and no more bytes than the curve, the same ones each time") {
    if (!can_partition()) CANNOT_TRY("built without METIS");
    Graph graph("square");
    Grid& grid = square(graph, "grid", 240, 5);
    const auto u = add_work(graph, grid, 1000);
    Task task = graph.step().task("look", grid);
    (void)task.need(u.at(0), ghosts(1));
    task.run([](Here&) {});
    const PatchCosts costs = declared_costs(graph);
    const Exchanges exchanges = find_exchanges(graph);
    const std::vector<double> places = places_along(graph, costs, exchanges.transfers);
    const int processes = 11;
    const FamilyOwners owners = share_by_bytes(graph, places, costs, exchanges, processes);
    CHECK(owners == share_by_bytes(graph, places, costs, exchanges, processes));
    Assignment all{owners, {}}, along{share_along(places, costs, processes), {}};
    CHECK(longest(loads(costs, all, processes)) <= 1.03 * mean(loads(costs, all, processes)));
    const auto between = [&](const Assignment& assignment) {  // pairs of neighbours apart
        int count = 0;
        for (int p = 0; p < grid.patches(); ++p)
            for (const int other : grid.neighbours(p))
                count += assignment.owner.front()[z(p)] != assignment.owner.front()[z(other)];
        return count;
    };
    CHECK(between(all) <= between(along));
}

namespace {

/// Equal patches, with a task that needs what lies around.
Grid& add_cube(Graph& graph, const Int3& patches) {
    Grid& grid =
        graph.grid("grid", {.cells = {{0, 0, 0}, {16 * patches[0], 16 * patches[1], 16 * patches[2]}},
                            .patch_cells = {16, 16, 16}});
    const auto made = graph.field<double>("u", grid, On::cells, {.history = 1});
    Task task = graph.step().task("conduct", grid);
    (void)task.need(made.previous(), ghosts(1)), (void)task.make(made);
    task.work(13, 16).run([](Here&) {});
    return grid;
}

/// The boxes that each process's patches fill.
std::vector<std::size_t> blocks_of(const Grid& grid, const Assignment& all, int processes) {
    std::vector<std::size_t> blocks;
    for (int p = 0; p < processes; ++p) blocks.push_back(divide(grid, all.of(p)[FamilyId(0)]).parts.size());
    return blocks;
}

}  // namespace

TEST_CASE("a grid is cut by planes where a part of the curve would be several boxes") {
    Graph graph("long");
    const Grid& grid = add_cube(graph, {6, 3, 3});
    CHECK(blocks_of(grid, assign(graph, 2), 2) == std::vector<std::size_t>{1, 1});
    const PatchCosts costs = declared_costs(graph);
    const Assignment curve{share_apart(graph, costs, {}, 2), {}};
    CHECK(longest([&] {
              std::vector<double> all;
              for (const std::size_t blocks : blocks_of(grid, curve, 2)) all.push_back(double(blocks));
              return all;
          }()) > 1);
    for (const int processes : {3, 4, 5, 7, 54}) {  // also where layers do not divide evenly
        const std::vector<int> owner = cut_across(grid, costs[FamilyId(0)], processes);
        std::vector<int> patches(z(processes), 0);
        for (const int each : owner) ++patches[z(each)];
        const auto [least, most] = std::minmax_element(patches.begin(), patches.end());
        CHECK(*most - *least <= 1);
        CHECK(std::accumulate(patches.begin(), patches.end(), 0) == grid.patches());
    }
}

TEST_CASE("cuts by planes follow what patches cost") {
    Graph graph("long");
    const Grid& grid = add_cube(graph, {8, 1, 1});
    const std::vector<double> costs{5, 1, 1, 1, 1, 1, 1, 1};
    CHECK(cut_across(grid, costs, 2) == std::vector<int>{0, 0, 1, 1, 1, 1, 1, 1});
}

TEST_CASE("very many patches are shared out by load alone") {
    Graph graph("many");
    (void)add_work(graph, square(graph, "grid", 200, 1), 1000);
    (void)add_work(graph, square(graph, "one", 20, 20), 1000);
    REQUIRE(200 * 200 > kMostExchanging);
    const PatchCosts costs = declared_costs(graph);
    const std::vector<double> all = loads(costs, assign(graph, 90, Library::where_found), 90);
    CHECK(longest(all) <= 1.02 * mean(all));
}

TEST_CASE("prints the time to share out up to a million patches", "[.times]") {
    const auto now = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };  // of the processor
    const auto show = [&](int side, int processes, bool alone) {
        Graph graph("cube");
        Grid& grid = graph.grid(
            "grid", {.cells = {{0, 0, 0}, {8 * side, 8 * side, 8 * side}}, .patch_cells = {8, 8, 8}});
        const auto u = add_work(graph, grid, 10);
        Task task = graph.step().task("look", grid);
        (void)task.need(u.previous(), ghosts(1));
        task.run([](Here&) {});
        if (!alone) (void)add_work(graph, square(graph, "one", 20, 20), 1000);
        const double begin = now();
        const Assignment curves = assign(graph, processes);
        const double middle = now();
        const Assignment metis = assign(graph, processes, Library::where_found);
        const double end = now();
        PatchCosts costs = declared_costs(graph);
        for (std::size_t p = 0; p < costs[FamilyId(0)].size() / 8; ++p) costs[FamilyId(0)][p] *= 3;
        const Assignment next = reassign(graph, processes, costs, metis.owner);
        fmt::print(
            "{} patches{}, {} processes: {:.3f} s by curves, {:.3f} s with METIS{}, {:.3f} s by measured "
            "costs\n",
            side * side * side, alone ? "" : " and one", processes, middle - begin, end - middle,
            metis.owner == curves.owner ? "" : ", which is taken", now() - end);
        (void)next;
    };
    for (const auto& [side, processes] : {std::pair{10, 13}, {20, 100}, {32, 1000}, {100, 10'000}})
        for (const bool alone : {true, false}) show(side, processes, alone);
}

TEST_CASE("prints the estimated time of each way to share out the graphs of plans", "[.ways]") {
    fmt::print("{:28} {:>9} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "graph", "processes", "apart/us", "across",
               "around", "along", "METIS");
    for (const PlannedGraph& of : planned_graphs()) {
        if (of.moved) continue;
        const Graph& graph = planned(of.name);
        const PatchCosts costs = declared_costs(graph);
        const Exchanges exchanges = find_exchanges(graph);
        const std::vector<double> places = places_along(graph, costs, exchanges.transfers);
        for (const int processes : {2, 3, 4, 8}) {
            const auto time = [&](const FamilyOwners& owners) {
                return owners.empty() ? 0 : 1e6 * step_time(graph, costs, exchanges, owners, processes);
            };
            fmt::print("{:28} {:9} {:10.3f} {:10.3f} {:10.3f} {:10.3f} {:10.3f}\n", of.name, processes,
                       time(share_apart(graph, costs, exchanges.transfers, processes)),
                       time(share_apart(graph, costs, exchanges.transfers, processes, Cut::across)),
                       time(share_around(graph, places, costs, processes)),
                       time(share_along(places, costs, processes)),
                       time(share_by_bytes(graph, places, costs, exchanges, processes)));
        }
    }
}
