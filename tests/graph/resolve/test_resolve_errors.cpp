// Declarations that cannot be are refused with the names of tasks and labels, and with what to do; and how
// long it takes to understand those that can.
#include <chrono>

#include "core/base/error.hpp"
#include "core/graph/resolve/resolved.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/declared.hpp"

using namespace strata::graph;
using strata::graph::testing::says;

namespace {

struct Solver : strata::graph::testing::Declared {
    Grid& other = graph.grid("other", {.cells = {{0, 0, 0}, {16, 16, 1}}, .patch_cells = {4, 16, 1}});
    Solver() : Declared({.cells = {{0, 0, 0}, {16, 16, 1}}, .patch_cells = {8, 8, 1}}) {}
};

}  // namespace

TEST_CASE("ghosts may be wider than patches, up to a most") {
    const auto refused = [](const GridShape& shape, std::vector<Box> boxes, const Int3& width) {
        Graph graph("g");
        const Grid& grid = boxes.empty() ? graph.grid("grid", shape) : graph.add<Grid>("grid", shape, boxes);
        const auto u = graph.field<double>("u", grid, On::cells, {.history = 1});
        Task first = graph.start().task("first", grid), reader = graph.step().task("reader", grid);
        first.make(u), first.run([](Here&) {});
        reader.need(u.previous(), ghosts(width)), reader.make(u), reader.run([](Here&) {});
        try {
            (void)resolve(graph);
        } catch (const strata::Error& error) {
            return error.text();
        }
        return std::string("nothing");
    };
    GridShape grid{.cells = {{0, 0, 0}, {9, 11, 1}}, .patch_cells = {4, 8, 1}};
    CHECK(refused(grid, {}, {1024, 5, 2000}) == "nothing");  // along z there is nothing beyond the one cell
    CHECK(says(refused(grid, {}, {1025, 3, 0}), {"'reader'", "1025 layers in x", "0 to 1024"}));
    CHECK(says(refused(grid, {}, {1, -1, 0}), {"'reader'", "-1 layers in y", "0 or more"}));
    grid.periodic = {false, true, true};
    CHECK(refused(grid, {}, {9, 30, 3}) == "nothing");
    CHECK(says(refused(grid, {}, {0, 0, 1025}), {"1025 layers in z", "0 to 1024"}));
    CHECK(refused(grid, {{{0, 0, 0}, {9, 5, 1}}, {{0, 5, 0}, {2, 11, 1}}}, {3, 6, 0}) == "nothing");
    // As wide as the widest patch in any case.
    const GridShape wide{.cells = {{0, 0, 0}, {3000, 1, 1}}, .patch_cells = {2000, 1, 1}};
    CHECK(refused(wide, {}, {2000, 0, 0}) == "nothing");
    CHECK(says(refused(wide, {}, {2001, 0, 0}), {"2001 layers in x", "0 to 2000"}));
}

TEST_CASE("two makers of a version are named") {
    Solver s;
    auto u = s.field("u");
    s.step("one").make(u);
    s.step("two").make(u);
    CHECK(says(s.refused(), {"two makers of 'u' (version 0)", "task 'one'", "task 'two'"}));
}

TEST_CASE("two that modify one version are named") {
    Solver s;
    auto u = s.field("u");
    s.start("initial").make(u);
    s.step("left").modify(u);
    s.step("right").modify(u);
    CHECK(says(s.refused(), {"two makers of 'u' (version 1)", "task 'left'", "task 'right'", "try:"}));
}

TEST_CASE("a need that nobody makes is named, with who needs it") {
    Solver s;
    auto u = s.field("u");
    SECTION("in the step, and not at the start") {
        s.step("reader").need(u);
        CHECK(says(s.refused(), {"task 'reader' needs 'u'", "nobody makes it", "start scope"}));
    }
    SECTION("in the start scope") {
        s.start("reader").need(u);
        CHECK(says(s.refused(), {"task 'reader'", "in the start scope"}));
    }
    SECTION("a later version") {
        s.start("initial").make(u);
        s.step("reader").need(u.at(2));
        s.step("writer").modify(u);
        CHECK(says(s.refused(), {"task 'reader' needs 'u' (version 2)", "versions 0 to 1"}));
    }
    SECTION("a version in between") {
        s.start("initial").make(u);
        s.step("writer").modify(u.at(1));
        CHECK(says(s.refused(), {"nobody makes 'u' (version 1)", "task 'writer'"}));
    }
    SECTION("in a loop") {
        Scope& loop = s.graph.step().subcycle("loop", 2);
        s.task(loop, "reader").need(u);
        CHECK(says(s.refused(), {"task 'reader' needs 'u'"}));
    }
}

TEST_CASE("earlier generations must be kept, and made") {
    Solver s;
    SECTION("not kept") {
        auto u = s.field("u", 1);
        s.start("initial").make(u);
        Task t = s.step("leap");
        t.need(u.previous(2));
        t.make(u);
        CHECK(says(s.refused(),
                   {"task 'leap' needs 'u' as it was 2 rounds before", "history 1", ".history = 2"}));
    }
    SECTION("not even the round before") {
        auto u = s.field("u");
        s.start("initial").make(u);
        Task t = s.step("look");
        t.need(u.previous());
        t.make(u);
        CHECK(says(s.refused(), {"task 'look' needs 'u' as it was 1 round before, which is not kept"}));
    }
    SECTION("of a label that is modified in place") {
        auto u = s.field("u", 1);
        s.start("initial").make(u);
        s.step("leap").need(u.previous());
        s.step("change").modify(u);
        CHECK(says(s.refused(), {"task 'leap'", "'u'", "no task makes it anew"}));
    }
    SECTION("not made at the start") {
        auto u = s.field("u", 2);
        Task t = s.step("leap");
        t.need(u.previous(2));
        t.make(u);
        Task initial = s.start("initial");
        initial.make(u);
        CHECK(says(s.refused(), {"task 'leap'", "'u'", "label.previous(1)"}));
        initial.make(u.previous(1));
        CHECK(s.refused() == "nothing");
    }
}

TEST_CASE("a cycle is told with its way") {
    Solver s;
    auto a = s.field("a"), b = s.field("b"), c = s.field("c");
    Task x = s.step("x"), y = s.step("y"), z = s.step("z");
    x.need(c), x.make(a);
    y.need(a), y.make(b);
    z.need(b), z.make(c);
    CHECK(says(s.refused(),
               {"wait for each other", "task 'y' needs 'a', which task 'x' makes",
                "task 'z' needs 'b', which task 'y' makes", "task 'x' needs 'c', which task 'z' makes"}));
}

TEST_CASE("a cycle through what is overwritten is told") {
    Solver s;
    auto u = s.field("u"), v = s.field("v");
    s.start("initial").make(u);
    Task change = s.step("change");
    change.modify(u);
    change.make(v);
    Task late = s.step("late");
    late.need(v);
    late.need(u);  // version 0, which is gone by then
    CHECK(says(s.refused(), {"task 'change' overwrites 'u', which task 'late' reads before",
                             "task 'late' needs 'v', which task 'change' makes"}));
}

TEST_CASE("families, widths and relations must fit") {
    Solver s;
    auto u = s.field("u");
    s.start("initial").make(u);
    SECTION("another family without a relation") {
        Task t = s.graph.step().task("transposed", s.other);
        t.run([](Here&) {});
        t.need(u);
        CHECK(says(s.refused(), {"task 'transposed'", "'u' lies on 'grid'", "from 'grid' to 'other'"}));
    }
    SECTION("a relation that comes from elsewhere") {
        auto& back = s.graph.add<Overlap>("back", s.other, s.grid);
        s.step("reader").need(u, back);
        CHECK(says(s.refused(), {"task 'reader'", "'u'", "relation 'back'", "from 'other'"}));
    }
    SECTION("more ghosts than there may be") {
        s.step("reader").need(u, ghosts(Int3{1025, 0, 0}));
        CHECK(says(s.refused(), {"task 'reader' uses 'u' with more ghosts than there may be",
                                 "1025 layers in x", "0 to 1024"}));
    }
    SECTION("contributions that reach further than they may") {
        auto v = s.field("v");
        s.step("adds").sum(v, ghosts(Int3{0, 1025, 0}));
        CHECK(says(s.refused(),
                   {"task 'adds' uses 'v' with more ghosts than there may be", "1025 layers in y"}));
    }
    SECTION("fewer ghosts than none") {
        s.step("reader").need(u, ghosts(Int3{0, -1, 0}));
        CHECK(says(s.refused(), {"task 'reader' uses 'u' with fewer ghosts than none", "-1 layers in y"}));
    }
    SECTION("what a task makes itself") {
        auto v = s.field("v");
        Task t = s.step("self");
        t.make(v);
        t.need(v, ghosts(1));
        CHECK(says(s.refused(), {"task 'self' needs", "'v', which it makes itself"}));
    }
    SECTION("what it modifies") {
        Task t = s.step("self");
        t.modify(u);
        t.need(u, ghosts(1));
        CHECK(says(s.refused(), {"task 'self' needs version 0 of 'u' and modifies it in place"}));
    }
    SECTION("no body") {
        s.graph.step().task("empty", s.grid);
        CHECK(says(s.refused(), {"task 'empty' has nothing to do"}));
    }
    SECTION("a version that only modify makes") {
        s.step("maker").make(u.at(1));
        CHECK(says(s.refused(), {"task 'maker' makes version 1 of 'u'"}));
    }
}

TEST_CASE("what decides must be a number that is made there") {
    Solver s;
    auto u = s.field("u");
    s.start("initial").make(u);
    auto norm = s.graph.scalar<double>("norm", Reduce::max);
    Scope& loop = s.graph.step().repeat<double>(
        "solve", norm, [](double n) { return n < 1; }, 10);
    s.task(loop, "relax").modify(u);
    CHECK(says(s.refused(), {"scope 'solve' is repeated until 'norm'", "nothing in it contributes"}));
    s.task(loop, "measure").contribute(norm);
    CHECK(s.refused() == "nothing");
}

TEST_CASE("scopes that change one label say in which order") {
    Solver s;
    auto u = s.field("u");
    s.start("initial").make(u);
    Scope& first = s.graph.step().subcycle("first", 2);
    Scope& second = s.graph.step().subcycle("second", 2);
    s.task(first, "a").modify(u);
    s.task(second, "b").modify(u);
    CHECK(says(s.refused(), {"two makers of 'u' (version 1)", "scope 'first'", "scope 'second'", "takes"}));
    second.takes(u.at(1));
    CHECK(s.refused() == "nothing");
}

TEST_CASE("particles are used before or after they are relocated, not both at once") {
    Solver s;
    const SetId set = s.graph.particles("sand", s.grid);
    auto id = Particles<std::int64_t>(s.graph.particle_sets().at(0).id_label);
    auto x = s.graph.particle<double>(set, "x", {.components = 3});
    auto force = s.graph.particle<double>(set, "force");
    Task initial = s.start("initial");
    initial.make(id), initial.make(x);
    Task push = s.step("push");
    push.need(force);
    push.modify(x);
    Task forces = s.step("forces");
    forces.make(force);
    forces.need(x);
    s.graph.step().relocate(set, x.last());
    const Resolved r = resolve(s.graph);
    // Forces are made anew: they do not move.
    CHECK(r.tasks.back().what == ResolvedTask::What::relocate);
    CHECK(r.tasks.back().uses.size() == 2);
    CHECK(r.scopes[kStep].order.back().task == TaskId(r.tasks.size() - 1));
    Task mixed = s.step("mixed");
    mixed.need(x.last());
    mixed.need(force);
    CHECK(says(s.refused(), {"task 'mixed' uses 'force'", "before the particles 'sand' are relocated"}));
}

TEST_CASE("particles are relocated by a label that is a position in their grid") {
    const auto refused = [](auto value, int components) {
        using T = decltype(value);
        Solver s;
        const SetId set = s.graph.particles("sand", s.grid);
        const auto x = s.graph.particle<T>(set, "x", {.components = components});
        s.graph.step().relocate(set, x.last());
        return s.refused();
    };
    const char* by = "particles 'sand' cannot be relocated by 'x'";
    CHECK(says(refused(std::int64_t{}, 3), {by, "it is no position", "double or float"}));
    CHECK(says(refused(0.0, 4), {by, "it has too many components", "1 to 3"}));
    CHECK(
        says(refused(0.0, 1), {by, "'grid' has cells in a direction", "given: 1 component\n", "2 or more"}));
}

TEST_CASE("what is never used is said, and is no error") {
    Solver s;
    (void)s.field("idle");
    auto u = s.field("u");
    s.step("maker").make(u);
    auto force = s.field("force");
    s.step("adder").make(force);
    s.step("user").modify(force);                                                // which reads it
    s.step("counter").contribute(s.graph.scalar<double>("total", Reduce::sum));  // what a run reports
    const Resolved r = resolve(s.graph);
    REQUIRE(r.warnings.size() == 2);
    CHECK(r.warnings[0] == "label 'idle' is used by no task");
    CHECK(r.warnings[1] == "label 'u' is made and never read");
}

TEST_CASE("a thousand tasks are resolved") {
    Solver s;
    std::vector<Field<double>> labels;
    for (int i = 0; i < 1000; ++i) {
        labels.push_back(s.field("label" + std::to_string(i), i % 10 == 0 ? 1 : 0));
        Task t = s.step("task" + std::to_string((i * 617) % 1000));
        for (int k = 1; k <= 4 && k <= i; ++k)
            t.need(labels[static_cast<std::size_t>(i - 1 - k * k % i)], ghosts(k % 3));
        if (i % 10 == 0)
            t.need(labels.back().previous(), ghosts(1)),
                s.start("start" + std::to_string(i)).make(labels.back());
        t.make(labels.back());
    }
    const auto begin = std::chrono::steady_clock::now();
    const Resolved r = resolve(s.graph);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    UNSCOPED_INFO(took.count() << " ms");
    std::size_t waits = 0;
    for (const ResolvedTask& t : r.tasks) waits += t.before.size();
    CHECK(r.storages.size() < 400);  // of 1000 labels
    CHECK(waits < 8000);
    CHECK(r.scopes[kStep].order.size() == 1000);
}
