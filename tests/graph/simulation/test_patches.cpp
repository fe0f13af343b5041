// Tasks on some patches: where they run, what others find, and what is refused.
#include <algorithm>
#include <set>

#include "core/base/error.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/declared.hpp"

using namespace strata::graph;
using strata::graph::testing::Declared;
using strata::graph::testing::says;

namespace {

/// Four patches of two cells.
struct OneLine : Declared {
    Field<double> u = field("u", 1), wall = field("wall");
    OneLine() : Declared({.cells = {{0, 0, 0}, {8, 1, 1}}, .patch_cells = {2, 1, 1}}) {
        Task first = graph.start().task("first", grid);
        first.run([u = first.make(u)](Here& here) {
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) here[u](i) = i;
        });
    }
    Task build(const std::vector<int>& patches) {
        Task task = graph.step().task("build", grid);
        task.on(patches).run([w = task.make(wall)](Here& here) {
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) here[w](i) = 100 + i;
        });
        return task;
    }
};

}  // namespace

TEST_CASE("a task on some patches runs there and has operations nowhere else") {
    OneLine line;
    std::set<int> ran;
    line.build({3, 1});
    Task look = line.graph.step().task("look", line.grid);
    look.on([](int patch) { return patch == 1; }).run([&ran, w = look.need(line.wall)](Here& here) {
        ran.insert(here.patch);
        CHECK(here[w](3) == 103);
    });
    Simulation run(line.graph, Members::alone(), {});
    run.start();
    run.advance(2);
    CHECK(ran == std::set<int>{1});
    int built = 0, looked = 0;
    const Program& program = run.plan().step();
    for (const Op& op : program.ops) {
        built += program.names[op.name] == "build";
        looked += program.names[op.name] == "look";
    }
    CHECK(built == 2);
    CHECK(looked == 1);
}

TEST_CASE("what it modifies stays as it was on the other patches; sums and reductions take what there is") {
    OneLine line;
    Task keep = line.graph.step().task("keep", line.grid);
    keep.run([old = keep.need(line.u.previous()), now = keep.make(line.u)](Here& here) {
        for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) here[now](i) = here[old](i);
    });
    const auto nodes = line.graph.field<double>("nodes", line.grid, On::nodes);
    const auto total = line.graph.scalar<double>("total", Reduce::sum),
               all = line.graph.scalar<double>("all", Reduce::sum),
               at_nodes = line.graph.scalar<double>("at nodes", Reduce::sum);
    Task add = line.graph.step().task("add", line.grid);
    add.on({0, 2}).run(
        [u = add.modify(line.u), n = add.sum(nodes, ghosts(1)), t = add.contribute(total)](Here& here) {
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i)
                here[u](i) += 10, here[n](i) += 1, here[n](i + 1) += 1;
            here[t] = 1;
        });
    Task look = line.graph.step().task("look", line.grid);
    look.run([u = look.need(line.u.at(1), ghosts(1)), a = look.contribute(all)](Here& here) {
        for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) here[a] += here[u](i);
        if (here.patch == 1) CHECK(here[u](4) == 4 + 10 * static_cast<double>(here.step));
    });
    Task count = line.graph.step().task("count", line.grid);
    count.run([n = count.need(nodes), s = count.contribute(at_nodes)](Here& here) {
        const Box own = here.grid().owned(here.patch, On::nodes);
        for (int i = own.lo[0]; i < own.hi[0]; ++i) here[s] += here[n](i) * (i + 1);
    });
    Simulation run(line.graph, Members::alone(), {});
    run.start();
    run.advance(3);
    CHECK(run.value(total) == 2);
    CHECK(run.value(all) == 28 + 4 * 30);
    // Nodes 0 to 2 have 1, 2, 1 of patch 0, and 4 to 6 of patch 2.
    CHECK(run.value(at_nodes) == (1 + 2 * 2 + 3) + (5 + 2 * 6 + 7));
}

TEST_CASE(
    "a need of what no task makes on a patch is refused, in whichever way it is reached, unless accepted") {
    {
        OneLine line;
        line.build({0});
        Task look = line.step("look");
        const auto w = look.need(line.wall);
        look.on({0, 2});
        CHECK(says(line.refused(),
                   {"graph 'solver': task 'look' needs 'wall' of patch 2 of 'grid', where no task makes it",
                    "task 'build' makes it, on 1 of 4 patches", "accept_missing()"}));
        look.accept_missing(w);
        CHECK(line.refused() == "nothing");
    }
    {
        OneLine line;
        line.build({0, 1});
        Task look = line.step("look");
        look.need(line.wall, ghosts(1));
        look.on({0});
        CHECK(line.refused() == "nothing");
        look.on({1});
        CHECK(says(line.refused(), {"needs 'wall' of patch 2"}));
    }
    {
        OneLine line;
        const auto& table = line.graph.add<Gather>("ring", line.grid, line.grid,
                                                   Gather::Table{{{3, 0}}, {{0, 1}}, {{1, 0}}, {{2, 0}}});
        line.build({0, 1});
        Task look = line.step("look");
        look.need(line.wall, table);
        look.on({1, 2});
        CHECK(line.refused() == "nothing");
        look.on({0});
        CHECK(says(line.refused(), {"needs 'wall' of patch 3"}));
    }
    OneLine line;  // a modification needs it as well, and hands it on
    line.build({0, 1});
    Task add = line.step("add");
    add.modify(line.wall);
    add.on({1});
    Task look = line.step("look");
    look.need(line.wall.at(1));
    look.on({0});
    CHECK(line.refused() == "nothing");
    look.on({3});
    CHECK(says(line.refused(), {"task 'look' needs 'wall' of patch 3"}));
}

TEST_CASE("patches that a family does not have are refused, and so are patches of a task that runs once") {
    OneLine line;
    Task task = line.step("look");
    const auto refused = [](const auto& call) -> std::string {
        try {
            call();
        } catch (const strata::Error& error) {
            return error.text();
        }
        return "nothing";
    };
    CHECK(says(refused([&] { task.on({1, 4}); }), {"task 'look'", "given: 4", "0 to 3"}));
    CHECK(says(refused([&] { line.graph.step().once("clock").on({0}); }),
               {"task 'clock'", "does not run on patches"}));
}

TEST_CASE("memory is shared only where the order does not lead through a patch that is left out") {
    // a -> x -> b: where x runs everywhere, b may lie where a was. On the patches without x nothing orders
    // them.
    const auto storages = [](bool everywhere) {
        OneLine line;
        const auto a = line.field("a"), m = line.field("m"), b = line.field("b");
        line.step("make a").make(a);
        Task x = line.step("x");
        x.need(a), x.make(m);
        Task last = line.step("make b");
        const auto w = last.need(m);
        last.make(b);
        if (!everywhere) x.on({0}), last.accept_missing(w);
        line.step("end").need(b);
        const Resolved resolved = resolve(line.graph);
        int shared = 0;
        for (const Storage& storage : resolved.storages) shared += !storage.others.empty();
        return shared;
    };
    CHECK(storages(true) == 1);
    CHECK(storages(false) == 0);
}

TEST_CASE("a wait is left out as implied only where the tasks on the way run on all patches") {
    // "last" overwrites the u that "r" read a round before, and follows "x", which follows "r". Where "x"
    // does not run, nothing but a wait of its own keeps it behind "r".
    const auto waits = [](bool everywhere) {
        OneLine line;
        const auto v = line.field("v"), w = line.field("w");
        Task r = line.step("r");
        r.need(line.u.previous()), r.make(v);
        Task x = line.step("x");
        x.need(v), x.make(w);
        Task last = line.step("last");
        const auto use = last.need(w);
        last.make(line.u);
        if (!everywhere) x.on({0}), last.accept_missing(use);
        const Resolved resolved = resolve(line.graph);
        const std::vector<Before>& before = resolved.tasks[last.info().id].before;
        return std::count_if(before.begin(), before.end(),
                             [&](const Before& each) { return each.backward && each.task == r.info().id; });
    };
    CHECK(waits(true) == 0);
    CHECK(waits(false) == 1);
}
