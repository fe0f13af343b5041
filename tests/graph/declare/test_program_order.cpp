// What a label alone means in a graph in program order, and what a quantity is that a case does not have.
#include "core/base/error.hpp"
#include "core/graph/resolve/resolved.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/declared.hpp"

using namespace strata::graph;
using strata::graph::testing::error_of;
using strata::graph::testing::says;

namespace {

struct Ordered : strata::graph::testing::Declared {
    Ordered() : Declared({.cells = {{0, 0, 0}, {16, 16, 1}}, .patch_cells = {8, 8, 1}}) {
        graph.in_program_order();
    }
};

/// The version of the last use that the task declared.
int version_of(const Task& task) { return task.info().uses.back().version.version; }

}  // namespace

TEST_CASE("each modification makes the newest version, which later tasks need") {
    Ordered g;
    const auto u = g.graph.field<double>("u", g.grid, On::cells);
    Task make = g.graph.step().task("make", g.grid);
    (void)make.make(u);
    for (const int v : {0, 1, 2}) {
        Task task = g.graph.step().task("modify " + std::to_string(v), g.grid);
        (void)task.need(u, ghosts(1));
        CHECK(version_of(task) == v);
        (void)task.modify(u);
        CHECK(version_of(task) == v);
    }
    Task reader = g.graph.step().task("read", g.grid);
    (void)reader.need(u);
    CHECK(version_of(reader) == 3);
    (void)reader.need(u.at(1));  // may still be named
    CHECK(version_of(reader) == 1);
}

TEST_CASE("an inner scope begins with the newest version, and leaves the next") {
    Ordered g;
    const auto u = g.graph.field<double>("u", g.grid, On::cells);
    const auto due = g.graph.scalar<double>("due", Reduce::max);
    Task first = g.graph.step().task("first", g.grid);
    (void)first.make(u), (void)first.contribute(due);
    Task second = g.graph.step().task("second", g.grid);
    (void)second.modify(u);
    Scope& inner = g.graph.step().when<double>("inner", due, [](double is) { return is > 0; });
    Scope& inmost = inner.subcycle("inmost", 2);
    Task within = inmost.task("within", g.grid);
    (void)within.modify(u);
    CHECK(version_of(within) == 0);
    (void)inner.task("after", g.grid).need(u);
    CHECK(g.graph.tasks()[TaskId(g.graph.tasks().size() - 1)].uses[0].version.version == 1);
    REQUIRE(inner.taken().size() == 1);
    CHECK(inner.taken()[0].version == 1);
    CHECK(inmost.taken().empty());  // version 0 need not be said
    Task last = g.graph.step().task("last", g.grid);
    (void)last.need(u);
    CHECK(version_of(last) == 2);
}

TEST_CASE("a repeat is ended by the newest version that its rounds make") {
    Ordered g;
    const auto left = g.graph.scalar<double>("left");
    int rounds = 0;
    Task first = g.graph.step().once("first");
    first.run([made = first.make(left)](Here& here) { here[made] = 16; });
    Scope& halve = g.graph.step().repeat<double>(
        "halve", left, [](double is) { return is < 1; }, 100);
    Task half = halve.once("half");
    half.run([&rounds, it = half.modify(left)](Here& here) { here[it] /= 2, ++rounds; });
    CHECK(halve.decided_by() == left.at(1));
    Simulation run(g.graph, Members::alone(), {});
    run.start();
    run.advance(1);
    CHECK(rounds == 5);
}

TEST_CASE("particles have their next version after an inner scope has relocated them") {
    Ordered g;
    const SetId set = g.graph.particles("atoms", g.grid);
    const auto x = g.graph.particle<double>(set, "x", {.components = 3});
    const auto kind = g.graph.particle<std::int32_t>(set, "kind");
    const auto force = g.graph.particle<double>(set, "force", {.components = 3});
    Task drift = g.graph.step().task("drift", g.grid);
    (void)drift.modify(x);
    g.graph.step().subcycle("rebuild", 1).relocate(set, x);
    Task push = g.graph.step().task("push", g.grid);
    (void)push.need(x);
    CHECK(version_of(push) == 2);
    (void)push.need(kind);
    CHECK(version_of(push) == 1);
    (void)push.make(force);
    CHECK(version_of(push) == 0);
    Task kick = g.graph.step().task("kick", g.grid);
    (void)kick.need(force);
    CHECK(version_of(kick) == 0);
}

TEST_CASE("a label alone that a later task makes is refused") {
    Ordered g;
    const auto u = g.graph.field<double>("u", g.grid, On::cells, {.history = 1});
    Task reader = g.graph.step().task("reader", g.grid);
    (void)reader.need(u);
    Task maker = g.graph.step().task("maker", g.grid);
    CHECK(says(error_of([&] { (void)maker.make(u); }), {"'reader'", "'u'", "'maker'", "label.previous()"}));
}

TEST_CASE("a graph is put in program order before its first task") {
    strata::graph::testing::FourPatches line;
    line.step("first");
    CHECK(says(error_of([&] { line.graph.in_program_order(); }),
               {"after its first task", "in_program_order()"}));
}

TEST_CASE("a quantity that the case does not have shows an empty view") {
    Ordered g;
    const Field<double> field;
    const List<double> list;
    const Scalar<double> scalar;
    CHECK(!field);
    const auto u = g.graph.field<double>("u", g.grid, On::cells);
    CHECK(u);
    CHECK(u.where(true).id() == u.id());
    CHECK(!u.where(false));
    bool empty = false;
    Task task = g.graph.step().task("task", g.grid);
    (void)task.need(scalar), (void)task.contribute(scalar), (void)task.modify(u.where(false), ghosts(1));
    task.run([&, made = task.make(u), f = task.need(field, ghosts(2)), l = task.modify(list)](Here& here) {
        empty = here[f].box().empty() && here[f].origin() == nullptr && here[l].size() == 0;
        for_each(here[made].box(), [&](int i, int j, int k) { here[made](i, j, k) = 1; });
    });
    CHECK(task.info().uses.size() == 1);
    Simulation run(g.graph, Members::alone(), {});
    run.start();
    run.advance(1);
    CHECK(empty);
}
