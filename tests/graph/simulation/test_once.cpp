// Tasks that run once, and scalars of several numbers.
#include <array>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "core/machine/last_cache.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/declared.hpp"

using namespace strata::graph;
using strata::graph::testing::error_of;
using strata::graph::testing::FourPatches;
using strata::graph::testing::says;

namespace {}  // namespace

TEST_CASE("a task that runs once is called once a round, whatever the number of patches") {
    FourPatches line;
    const auto calls = line.graph.scalar<double>("calls", {.history = 1});
    const auto shown = line.graph.scalar<double>("shown", Reduce::sum);
    int made = 0;
    Task count = line.graph.step().once("count");
    count.run([&made, before = count.need(calls.previous()), now = count.make(calls)](Here& here) {
        ++made;
        CHECK(here.patch == -1);
        here[now] = here[before] + 1;
    });
    Task show = line.graph.step().task("show", line.grid);
    show.run([now = show.need(calls), sum = show.contribute(shown)](Here& here) { here[sum] = here[now]; });
    Simulation run(line.graph, Members::alone(), {});
    run.start();
    run.advance(5);
    CHECK(made == 5);
    CHECK(run.value(calls) == 5);
    CHECK(run.value(shown) == 4 * 5);
}

TEST_CASE("scalars computed from scalars decide repeats and conditions, and end a run") {
    FourPatches line;
    const auto left = line.graph.scalar<double>("left"), rounds = line.graph.scalar<double>("rounds"),
               third = line.graph.scalar<double>("third"),
               time = line.graph.scalar<double>("time", {.history = 1});
    const auto total = line.graph.scalar<double>("total", Reduce::sum);
    Task sum = line.step("sum");
    sum.run([mine = sum.contribute(total)](Here& here) { here[mine] = 4; });
    Task begin = line.graph.step().once("begin");  // 16, then halved until it is below 1: five times
    begin.run([all = begin.need(total), left = begin.make(left), third = begin.make(third),
               time = begin.make(time), before = begin.need(time.previous())](Here& here) {
        here[left] = here[all];
        here[third] = static_cast<double>(here.step % 3);
        here[time] = here[before] + 0.5;
    });
    Scope& halve = line.graph.step().repeat<double>(
        "halve", left.at(1), [](double l) { return l < 1; }, 100);
    Task half = halve.once("half");
    half.run([left = half.modify(left), rounds = half.modify(rounds)](Here& here) {
        here[left] /= 2;
        here[rounds] += 1;
    });
    Scope& now = line.graph.step().when<double>("now", third.at(0), [](double t) { return t == 0; });
    Task more = now.takes(rounds.at(1)).once("more");
    more.run([rounds = more.modify(rounds)](Here& here) { here[rounds] += 100; });
    Simulation run(line.graph, Members::alone(), {});
    run.start();
    run.stop_when<double>(time, [](double t) { return t >= 2; });
    CHECK(run.advance(100) == 4);
    CHECK(run.value(rounds) == 4 * 5 + 100);
    CHECK(run.value(left) == 0.5);
}

TEST_CASE(
    "a task that runs once uses scalars alone, and a scalar without a reduction is made by such a task") {
    {
        FourPatches line;
        const auto u = line.field("u");
        line.start("first").make(u);
        Task once = line.graph.step().once("look");
        once.need(u), once.run([](Here&) {});
        CHECK(says(line.refused(),
                   {"task 'look' runs once and uses 'u', which has values on patches", "allowed: scalars"}));
    }
    {
        FourPatches line;
        Task once = line.graph.step().once("add");
        once.contribute(line.graph.scalar<double>("s", Reduce::sum)), once.run([](Here&) {});
        CHECK(says(line.refused(), {"task 'add' contributes to the scalar 's', but runs once",
                                    "make(scalar) and modify(scalar)"}));
    }
    {
        FourPatches line;
        line.step("add").contribute(line.graph.scalar<double>("s"));
        CHECK(says(line.refused(), {"task 'add' contributes to the scalar 's', which does not say how"}));
    }
    {
        FourPatches line;
        line.step("write").make(line.graph.scalar<double>("s", Reduce::sum));
        CHECK(says(line.refused(), {"task 'write' writes the scalar 's'", "once(name)"}));
    }
    {
        FourPatches line;
        const auto s = line.graph.scalar<double>("s", Reduce::sum);
        line.step("add").contribute(s);
        Task once = line.graph.step().once("set");
        once.make(s), once.run([](Here&) {});
        CHECK(says(line.refused(), {"two makers of 's' (version 0)", "task 'set'"}));
    }
    FourPatches line;
    Task once = line.graph.step().once("cells");
    once.run(
        [made = once.make(line.graph.scalar<double>("s"))](Here& here) { here[made] = here.cells().lo[0]; });
    Simulation run(line.graph, Members::alone(), {});
    run.start();
    CHECK(says(error_of([&] { run.advance(1); }), {"task 'cells', step 1: has no cells"}));
}

TEST_CASE("numbers that are reduced together are each what they are alone: sums exact, extremes of all") {
    FourPatches line;
    const auto sums = line.graph.scalar<std::array<double, 3>>("sums", Reduce::sum);
    const auto most = line.graph.scalar<std::array<std::int64_t, 2>>("most", Reduce::max);
    Task task = line.step("give");
    task.run([s = task.contribute(sums), m = task.contribute(most)](Here& here) {
        const std::array<double, 4> hard{1e100, 1, -1e100, 1};  // a loop gives 1 or 0
        here[s] = {hard[static_cast<std::size_t>(here.patch)], 0.1, static_cast<double>(here.patch)};
        here[m] = {here.patch, -here.patch};
    });
    Simulation run(line.graph, Members::alone(), {});
    run.start();
    run.advance(1);
    CHECK(run.value(sums) == std::array<double, 3>{2, 0.4, 6});
    CHECK(run.value(most) == std::array<std::int64_t, 2>{3, 0});
}

TEST_CASE("a scalar has as many numbers as the longest contribution, up to what was declared") {
    FourPatches line;
    const auto sums = line.graph.scalars<double>("sums", Reduce::sum, 5);
    const auto least = line.graph.scalars<std::int32_t>("least", Reduce::min, 3);
    const auto twice = line.graph.scalars<float>("twice", Reduce::none, 5);
    Task task = line.step("give");
    task.run([s = task.contribute(sums), l = task.contribute(least)](Here& here) {
        here[s].resize(here.patch + (here.step == 1 ? 2 : 1));  // 2 to 5, then 1 to 4
        for (std::int64_t i = 0; i < here[s].size(); ++i) {
            CHECK(here[s][i] == 0);
            here[s][i] = static_cast<double>(10 * i + here.patch);
        }
        here[l].resize(here.patch % 2);
        for (std::int32_t& each : here[l]) each = std::min(each, 7 - here.patch);
    });
    Task once = line.graph.step().once("double");
    once.run([s = once.need(sums), t = once.make(twice)](Here& here) {
        here[t].resize(here[s].size());
        for (std::int64_t i = 0; i < here[s].size(); ++i) here[t][i] = static_cast<float>(2 * here[s][i]);
    });
    Simulation run(line.graph, Members::alone(), {});
    run.start();
    CHECK(run.numbers(sums).empty());
    run.advance(1);
    CHECK(run.numbers(sums) == std::vector<double>{6, 46, 20 * 3 + 6, 30 * 2 + 5, 43});
    CHECK(run.numbers(twice) == std::vector<float>{12, 92, 132, 130, 86});
    CHECK(run.numbers(least) == std::vector<std::int32_t>{4});
    run.advance(1);  // one number fewer
    CHECK(run.numbers(sums) == std::vector<double>{6, 36 - 0, 20 * 2 + 5, 33});
}

TEST_CASE("more numbers than were declared are refused, with task and patch") {
    FourPatches line;
    const auto sums = line.graph.scalars<double>("sums", Reduce::sum, 2);
    Task task = line.step("give");
    task.run([s = task.contribute(sums)](Here& here) { here[s].resize(3); });
    Simulation run(line.graph, Members::alone(), {});
    run.start();
    CHECK(says(error_of([&] { run.advance(1); }), {"task 'give', patch ", "so many numbers: 3", "0 to 2"}));
    CHECK(says(error_of([&] { line.graph.scalars<double>("none", Reduce::sum, 0); }), {"'none'", "1 to"}));
}

TEST_CASE("a task is told to store past the caches where the values are more than these hold") {
    const auto told = [](int cells) {
        Graph graph("g");
        Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {cells, 1, 1}}, .patch_cells = {cells, 1, 1}});
        const auto u = graph.field<double>("u", grid, On::cells);
        bool past = false;
        Task task = graph.step().task("ask", grid);
        task.run([&past, made = task.make(u)](Here& here) {
            here[made](0) = 0;
            past = here.past_caches();
        });
        Simulation run(graph, Members::alone(), {});
        run.start();
        run.advance(1);
        return past;
    };
    const auto caches = static_cast<std::int64_t>(strata::machine::last_level_caches());
    CHECK_FALSE(told(1000));
    CHECK(told(static_cast<int>(caches / 8 + 1000)) == (caches > 0));
}
