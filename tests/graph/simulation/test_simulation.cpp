// Small graphs that run, against what a plain loop gives, and against themselves.
#include <cmath>
#include <cstring>
#include <vector>

#include "core/graph/declare/clock.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "tests/catch.hpp"
#include "tests/graph/simulation/small.hpp"

using namespace strata::graph;
using namespace strata::graph::testing;
namespace team = strata::team;

namespace {

void check(const Heat& heat, const Simulation& run, const std::vector<double>& expected) {
    const Int3 n = heat.grid.shape().cells.hi;
    for (const Kept& kept : kept_versions(run.plan())) {
        if (kept.label != heat.u.id() || kept.back != 0) continue;
        const auto& mine = run.plan().memory().patches().at(0);
        for (std::size_t p = 0; p < mine.size(); ++p) {
            const std::vector<std::byte> bytes = run.values(kept, static_cast<int>(p));
            std::size_t at = 0;
            for_each(heat.grid.box(mine[p]), [&](int i, int j, int k) {
                double value = 0;
                std::memcpy(&value, bytes.data() + at, sizeof value);
                at += sizeof value;
                const double is = expected[static_cast<std::size_t>(i + n[0] * (j + n[1] * k))];
                if (value == is) return;
                CAPTURE(mine[p], i, j, k);
                REQUIRE(value == is);
            });
        }
    }
}

}  // namespace

TEST_CASE("heat on patches is what one loop over all cells gives, bit for bit") {
    for (const GridShape& shape : {kOpen, kRound})
        for (const int threads : {1, 2, 3}) {
            Heat heat(shape);
            Simulation run(heat.graph, Members::alone(), {.threads = threads});
            run.start();
            CHECK(run.advance(20) == 20);
            check(heat, run, Heat::plainly(shape, 20));
            CHECK(run.advance(7) == 7);
            check(heat, run, Heat::plainly(shape, 27));
        }
}

TEST_CASE("values beside one memory begin on huge pages, and are what they are elsewhere", "[native]") {
    team::Arena arena = team::Arena::create();
    Members members;
    members.arena = &arena;
    members.beside_one_memory = true;
    const GridShape shape{.cells = {{0, 0, 0}, {128, 128, 32}}, .patch_cells = {32, 32, 32}};
    Heat heat(shape);
    Simulation run(heat.graph, members, {.threads = 2});
    constexpr std::size_t unit = 2 << 20;
    const auto probe = arena.array<std::byte>("probe", unit);
    const bool granted = team::begin_on_huge_pages(probe.data(), unit) == unit;  // Linux 6.1, not "deny"
    if (granted && !team::why_no_huge_pages().empty())
        CHECK(arena.resident() >= run.plan().memory().bytes() / 2);
    run.start();
    CHECK(run.advance(5) == 5);
    check(heat, run, Heat::plainly(shape, 5));
}

TEST_CASE("a patch that is its own neighbour shows its values as often as ghosts reach round") {
    for (const int patches : {1, 2}) {  // in x; along y each fills the direction alone
        Graph graph("round");
        Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {8, 3, 1}},
                                         .patch_cells = {8 / patches, 3, 1},
                                         .periodic = {true, true, true}});
        const auto u = graph.field<double>("u", grid, On::cells, {.history = 1});
        {
            Task task = graph.start().task("first", grid);
            const auto now = task.make(u);
            task.run([=](Here& here) {
                for_each(here.cells(), [&](int i, int j, int k) { here[now](i, j, k) = 10 * i + j; });
            });
        }
        Task task = graph.step().task("compare", grid);
        const auto old = task.need(u.previous(), ghosts({1, 7, 2}));
        const auto now = task.make(u);
        const auto wrong = graph.scalar<double>("wrong", Reduce::sum);
        const auto count = task.contribute(wrong);
        task.run([=](Here& here) {
            const auto from = here[old];
            for_each(from.box(), [&](int i, int j, int k) {
                here[count] += from(i, j, k) != 10 * ((i + 8) % 8) + (j + 9) % 3 ? 1 : 0;
            });
            for_each(here.cells(), [&](int i, int j, int k) { here[now](i, j, k) = from(i, j, k); });
        });
        for (const int threads : {1, 2}) {
            Simulation run(graph, Members::alone(), {.threads = threads});
            run.start();
            for (int step = 0; step < 3; ++step) {
                run.advance(1);
                CHECK(run.value(wrong) == 0);
            }
        }
    }
}

TEST_CASE("a shuffled order and delays change no bit") {
    const std::vector<double> expected = Heat::plainly(kRound, 30);
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        Heat heat(kRound);
        Simulation run(heat.graph, Members::alone(), {.threads = 3, .shuffle = {.seed = seed}});
        run.start();
        run.advance(30);
        check(heat, run, expected);
    }
}

TEST_CASE("reductions give the same for any number of threads") {
    std::vector<double> totals;
    for (const int threads : {1, 2, 4}) {
        Heat heat(kOpen);
        Simulation run(heat.graph, Members::alone(), {.threads = threads});
        run.start();
        run.advance(5);
        totals.push_back(run.value(heat.total));
        CHECK(run.value(heat.largest) > 0);
    }
    CHECK(totals[0] == totals[1]);
    CHECK(totals[0] == totals[2]);
    CHECK(totals[0] != 0);
}

TEST_CASE("a run stops after the step whose reduction says so") {
    Heat heat(kOpen);
    Simulation run(heat.graph, Members::alone(), {.threads = 2});
    run.start();
    run.advance(4);
    const double limit = run.value(heat.largest);
    Heat again(kOpen);
    Simulation other(again.graph, Members::alone(), {.threads = 2});
    other.start();
    other.stop_when<double>(again.largest, [=](double largest) { return largest <= limit; });
    CHECK(other.advance(100) == 4);
    CHECK(other.stopped());
}

TEST_CASE("a graph with some of everything gives the same bits for any number of threads and any order") {
    for (const GridShape& shape : {kOpen, kRound}) {
        std::vector<std::uint64_t> expected;
        for (const int threads : {1, 2, 3})
            for (std::uint64_t seed = 0; seed < 2; ++seed) {
                Mixed mixed(shape);
                Simulation run(mixed.graph, Members::alone(),
                               {.threads = threads, .shuffle = {.seed = seed}});
                run.start();
                run.advance(25);
                const auto hashes = run.hashes(mixed.grid);
                if (expected.empty()) expected = hashes;
                CAPTURE(threads, seed);
                CHECK(hashes == expected);
            }
    }
}

TEST_CASE("a plan made anew in the middle of a run goes on as if nothing had been") {
    Mixed mixed(kRound), again(kRound);
    Simulation run(mixed.graph, Members::alone(), {.threads = 2}),
        other(again.graph, Members::alone(), {.threads = 2});
    run.start();
    other.start();
    run.advance(17);
    for (const int steps : {1, 2, 5, 9}) {
        other.advance(steps);
        other.reassign(other.plan().assignment());
    }
    CHECK(run.hashes(mixed.grid) == other.hashes(again.grid));
    CHECK(other.step() == 17);
}

TEST_CASE("a task of the whole team sees all patches of its process, after all tasks that it needs") {
    Heat heat(kRound);
    std::vector<double> told, after;
    {
        Task task = heat.graph.step().team_task("tell");
        const auto u = task.need(heat.u.at(0));
        const auto total = task.need(heat.total.at(0));
        task.run([&, u, total](Here& here) {
            double sum = 0;
            for (const Here& patch : here.own(heat.grid))
                for_each(patch.cells(), [&](int i, int j, int k) { sum += patch[u](i, j, k); });
            told.push_back(sum - here[total]);
            CHECK(here.own(heat.grid).size() == static_cast<std::size_t>(heat.grid.patches()));
        });
    }
    {
        Task task = heat.graph.step().team_task("tell again");
        const auto u = task.need(heat.u.at(0));
        task.run([&, u](Here& here) {
            after.push_back(static_cast<double>(told.size()) + 0 * here.own(heat.grid)[0][u](0));
        });
    }
    Simulation run(heat.graph, Members::alone(), {.threads = 3, .shuffle = {.seed = 3}});
    run.start();
    run.advance(12);
    REQUIRE(told.size() == 12);
    for (const double difference : told) CHECK(std::abs(difference) < 1e-9);
    CHECK(after.size() == 12);
}

TEST_CASE("what a task of the whole team makes has its ghosts") {
    Graph graph("shift");
    Grid& grid = graph.grid(
        "grid",
        {.cells = {{0, 0, 0}, {12, 1, 1}}, .patch_cells = {4, 1, 1}, .periodic = {true, false, false}});
    const auto x = graph.field<double>("x", grid, On::cells);
    const auto wrong = graph.scalar<double>("wrong", Reduce::max);
    {
        Task task = graph.step().team_task("make");
        const auto now = task.make(x);
        task.run([=, &grid](Here& here) {
            for (const Here& patch : here.own(grid))
                for_each(patch.cells(), [&](int i, int j, int k) {
                    patch[now](i, j, k) = 100.0 * static_cast<double>(here.step) + i;
                });
        });
    }
    {
        Task task = graph.step().task("take", grid);
        const auto now = task.need(x, ghosts({1, 0, 0}));
        const auto error = task.contribute(wrong.at(0));
        task.run([=](Here& here) {
            here[error] = 0;
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i)
                here[error] = std::max(
                    here[error],
                    std::abs(here[now](i - 1) - 100.0 * static_cast<double>(here.step) - (i + 11) % 12));
        });
    }
    Simulation run(graph, Members::alone(), {.threads = 2, .shuffle = {.seed = 1}});
    run.start();
    run.advance(20);
    CHECK(run.value(wrong) == 0);
}

TEST_CASE("a moldable task is shared by the threads that are free") {
    Graph graph("moldable");
    Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {64, 64, 1}}, .patch_cells = {64, 64, 1}});
    const auto x = graph.field<double>("x", grid, On::cells);
    {
        Task task = graph.start().task("begin", grid);
        const auto now = task.make(x);
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) { here[now](i, j, k) = i + j; });
        });
    }
    Task task = graph.step().task("double", grid);
    const auto now = task.modify(x);
    task.threads(3).run([=](Here& here) {
        here.parallel_for(64, [&](std::int64_t first, std::int64_t last) {
            for (auto j = static_cast<int>(first); j < static_cast<int>(last); ++j)
                for (int i = 0; i < 64; ++i) here[now](i, j) *= 2;
        });
    });
    Simulation run(graph, Members::alone(), {.threads = 3});
    run.start();
    run.advance(10);
    const std::vector<std::byte> bytes = run.values(kept_versions(run.plan()).at(0), 0);
    std::vector<double> values(bytes.size() / sizeof(double));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    for (int j = 0; j < 64; ++j)
        for (int i = 0; i < 64; ++i)
            REQUIRE(values[static_cast<std::size_t>(i + 64 * j)] == 1024.0 * (i + j));
}

namespace {

/// Waves by leapfrog, which needs two generations: u'' = u'' before + c2 times the second difference.
struct Wave {
    Graph graph{"wave"};
    Grid& grid;
    Field<double> u;
    explicit Wave()
        : grid(graph.grid("grid", {.cells = {{0, 0, 0}, {24, 1, 1}},
                                   .patch_cells = {5, 1, 1},
                                   .periodic = {true, false, false}})),
          u(graph.field<double>("u", grid, On::cells, {.history = 2})) {
        {
            Task task = graph.start().task("begin", grid);
            const auto now = task.make(u);
            const auto before = task.make(u.previous());
            task.run([=](Here& here) {
                for_each(here.cells(), [&](int i, int, int) {
                    here[now](i) = std::sin(i), here[before](i) = std::cos(3 * i);
                });
            });
        }
        Task task = graph.step().task("leap", grid);
        const auto one = task.need(u.previous(1), ghosts({1, 0, 0}));
        const auto two = task.need(u.previous(2));
        const auto now = task.make(u);
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int, int) {
                here[now](i) = 2 * here[one](i) - here[two](i) +
                               0.2 * (here[one](i - 1) - 2 * here[one](i) + here[one](i + 1));
            });
        });
    }
    static std::vector<double> plainly(int steps) {
        std::vector<double> one(24), two(24), now(24);
        for (int i = 0; i < 24; ++i)
            one[static_cast<std::size_t>(i)] = std::sin(i),
            two[static_cast<std::size_t>(i)] = std::cos(3 * i);
        for (int s = 0; s < steps; ++s) {
            for (std::size_t i = 0; i < 24; ++i)
                now[i] = 2 * one[i] - two[i] + 0.2 * (one[(i + 23) % 24] - 2 * one[i] + one[(i + 1) % 24]);
            std::swap(two, one), std::swap(one, now);
        }
        return one;
    }
};

}  // namespace

TEST_CASE("two earlier generations are what they were, from the start on and in a new plan") {
    for (const bool anew : {false, true}) {
        Wave wave;
        Simulation run(wave.graph, Members::alone(), {.threads = 2});
        run.start();
        for (int steps = 1; steps <= 12; ++steps) {
            run.advance(1);
            if (anew) run.reassign(run.plan().assignment());
            const std::vector<double> expected = Wave::plainly(steps);
            for (const Kept& kept : kept_versions(run.plan())) {
                if (kept.back != 0) continue;
                for (int p = 0; p < wave.grid.patches(); ++p) {
                    const std::vector<std::byte> bytes = run.values(kept, p);
                    const int first =
                        wave.grid.box(run.plan().memory().patches().at(0)[static_cast<std::size_t>(p)]).lo[0];
                    CAPTURE(anew, steps, p);
                    CHECK(std::memcmp(bytes.data(), &expected[static_cast<std::size_t>(first)],
                                      bytes.size()) == 0);
                }
            }
        }
    }
}

TEST_CASE("steps of any length end at the end, and none of them is what rounding left") {
    Graph graph("clock");
    const Clock clock = steps_until(graph, 1.0, [](Task&) { return [](Here&) { return 0.1; }; });
    Simulation run(graph, Members::alone(), {.threads = 1});
    run.start();
    CHECK(run.advance(9) == 9);
    CHECK(run.value(clock.dt) == 0.1);
    run.advance(1);  // nine steps of 0.1 are 0.8999999999999999
    CHECK(run.value(clock.time) == 1.0);
    CHECK(run.value(clock.dt) == Approx(0.1).epsilon(1e-12));
}

TEST_CASE("the time of equal steps is their number times their length, not a sum") {
    Graph graph("clock");
    const Scalar<double> time = equal_steps(graph, 0.1);
    Simulation run(graph, Members::alone(), {.threads = 1});
    run.start();
    for (int n = 1; n <= 1000; ++n) {
        run.advance(1);
        REQUIRE(run.value(time) == n * 0.1);
    }
}
