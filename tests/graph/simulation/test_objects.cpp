// Objects of patches: what may be declared, where they live and end. That they have the same bits on every
// layout is shown in test_layouts.cpp and test_graph_nodes.cpp.
#include <string>

#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/declared.hpp"
#include "tests/graph/simulation/factored.hpp"

using namespace strata::graph;
using namespace strata::graph::testing;

namespace {

struct OneLine : Declared {
    OneLine() : Declared({.cells = {{0, 0, 0}, {8, 1, 1}}, .patch_cells = {2, 1, 1}}) {}
};

}  // namespace

TEST_CASE("each patch has its object, from the start on, and in each step the one that its tasks left") {
    OneLine line;
    struct Numbers {
        std::vector<int> all;
    };
    const auto list = line.graph.object<Numbers>(
        "numbers", line.grid,
        {.pack = [](const Numbers& n) { return bytes_of(n.all); },
         .unpack = [](std::span<const std::byte> from) { return Numbers{values_of<int>(from)}; }});
    const auto sum = line.graph.scalar<double>("sum", Reduce::sum);
    Task first = line.graph.start().task("first", line.grid);
    first.run([n = first.make(list)](Here& here) { here[n].all = {here.patch}; });
    Task add = line.graph.step().task("add", line.grid);
    add.run([n = add.modify(list)](Here& here) { here[n].all.push_back(10); });
    Task look = line.graph.step().task("look", line.grid);
    look.run([n = look.need(list.at(1)), sum = look.contribute(sum)](Here& here) {
        for (const int each : here[n].all) here[sum] += each;
    });
    Simulation run(line.graph, Members::alone(), {.threads = 2});
    run.start();
    run.advance(3);
    CHECK(run.value(sum) == 0 + 1 + 2 + 3 + 4 * 3 * 10);
    for (const Kept& kept : kept_versions(run.plan()))
        CHECK(values_of<int>(run.values(kept, 2)) == std::vector<int>{2, 10, 10, 10});
}

TEST_CASE("objects end with their patches and plans: as many are destroyed as were made") {
    REQUIRE(Counted::alive == 0);
    {
        Factored factored(kOpen);
        const int patches = factored.grid.patches();
        Simulation run(factored.graph, Members::alone(), {.threads = 2});
        CHECK(Counted::alive == 5 * patches);
        run.start();
        run.advance(5);
        CHECK(Counted::alive == 5 * patches);
        run.reassign(run.plan().assignment());
        run.advance(5);
        CHECK(Counted::alive == 5 * patches);
    }
    CHECK(Counted::alive == 0);
}

TEST_CASE("what objects say that they take is counted among the values") {
    Factored factored(kOpen);
    Simulation run(factored.graph, Members::alone());
    const std::uint64_t before = run.bytes().values;
    run.start();
    const std::uint64_t cells = 14 * 12 * 9;
    CHECK(run.bytes().values - before == cells * sizeof(double));
    run.advance(2);
    CHECK(run.bytes().values - before == cells * sizeof(double));
}

TEST_CASE("an object is packed and unpacked, or neither") {
    OneLine line;
    std::string said;
    try {
        (void)line.graph.object<int>("half", line.grid,
                                     {.pack = [](const int&) { return bytes_of<int>({}); }});
    } catch (const strata::Error& error) {
        said = error.text();
    }
    CHECK(says(said, {"label 'half'", "pack without unpack"}));
}

namespace {

/// A tree is grown at the start from x, and climbed in each step.
struct Tree : OneLine {
    Object<std::vector<int>> tree = graph.object<std::vector<int>>("tree", grid);
    Field<double> x = field("x");
    Tree() {
        start("first").make(x);
        Task grow = start("grow");
        grow.need(x), grow.make(tree);
        Task climb = step("climb");
        climb.accept_missing(climb.need(tree.last()));
    }
    Scope& now_and_then() {
        const auto now = graph.scalar<double>("now");
        Task clock = graph.step().once("clock");
        clock.make(now), clock.run([](Here&) {});
        return graph.step().when<double>("now and then", now, [](double n) { return n > 0; });
    }
    Task grow_anew() { return task(now_and_then(), "grow anew"); }
    bool refused_for(const char* why) const {
        return says(refused(), {"the object 'tree' lives from step to step, but cannot be made again", why,
                                "give 'tree' pack and unpack"});
    }
};

}  // namespace

TEST_CASE("what an object is made again from is kept for it") {
    Tree t;
    const Resolved resolved = resolve(t.graph);
    CHECK(resolved.made_again == std::vector<LabelId>{t.tree.id()});
    for (const Storage& storage : resolved.storages) CHECK(storage.kept);
}

TEST_CASE("what an object is made again from stays as it was, or the object is refused") {
    const char* moved = "task 'grow', which makes it, needs 'x', and task 'move' changes that";
    Tree at_once, in_step;
    at_once.start("move").modify(at_once.x);
    CHECK(at_once.refused_for(moved));
    in_step.step("move").modify(in_step.x);
    CHECK(in_step.refused_for(moved));
    for (const int version : {0, 1}) {  // made anew where x changes: from what x is then, or was before
        Tree t;
        Scope& scope = t.now_and_then();
        t.task(scope, "move").modify(t.x);
        Task grow = t.task(scope, "grow anew");
        grow.need(t.x.at(version)), grow.make(t.tree);
        CHECK((version == 1 ? t.refused() == "nothing" : t.refused_for(moved)));
    }
    Tree before;
    const auto y = before.field("y", 1);
    before.start("old y").make(y), before.step("new y").make(y);
    Task late = before.grow_anew();
    late.need(y.previous()), late.make(before.tree);
    CHECK(before.refused_for("task 'grow anew', which makes it, needs 'y' as it was before"));
    Tree gathered;
    const auto& table = gathered.graph.add<Gather>("table", gathered.grid, gathered.grid, Gather::Table(4));
    Task by_table = gathered.grow_anew();
    by_table.need(gathered.x, table), by_table.make(gathered.tree);
    CHECK(gathered.refused_for("needs 'x' by the table of 'table', which may be replaced"));
}

TEST_CASE("an object is made again by a task that makes it anew, it alone, on the same patches") {
    Tree pruned;
    pruned.step("prune").modify(pruned.tree);
    CHECK(pruned.refused_for("task 'prune' modifies it"));
    Tree some;
    Task one = some.grow_anew();
    one.make(some.tree), one.on({0});
    CHECK(some.refused_for("task 'grow' and task 'grow anew' make it on different patches"));
    Tree two;
    const auto bush = two.graph.object<int>("bush", two.grid);
    Task both = two.grow_anew();
    both.make(two.tree), both.make(bush);
    CHECK(two.refused_for("task 'grow anew' makes the object 'bush' as well"));
}

TEST_CASE("objects that a restart makes again follow a parameter that has changed, in the run too") {
    struct Scaled : OneLine {
        Object<std::vector<double>> scaled = graph.object<std::vector<double>>("scaled", grid);
        Field<double> x = field("x");
        Scalar<double> sum = graph.scalar<double>("sum", Reduce::sum);
        Scaled() {
            const double* factor = graph.parameter({.name = "factor", .value = 2.0, .least = 0, .most = 9});
            Task first = graph.start().task("first", grid);
            first.run([x = first.make(x)](Here& here) {
                for_each(here.cells(), [&](int i, int j, int k) { here[x](i, j, k) = 1; });
            });
            Task scale = graph.start().task("scale", grid);
            scale.run([factor, x = scale.need(x), s = scale.make(scaled)](Here& here) {
                // Of an object that is there already it would be twice as long.
                for_each(here.cells(),
                         [&](int i, int j, int k) { here[s].push_back(*factor * here[x](i, j, k)); });
            });
            Task add = graph.step().task("add", grid);
            add.run([s = add.need(scaled.last()), sum = add.contribute(sum)](Here& here) {
                for (const double each : here[s]) here[sum] += each;
            });
        }
    };
    Scaled graph;
    Simulation run(graph.graph, Members::alone(), {.threads = 2});
    run.start();
    run.advance(2);
    CHECK(run.value(graph.sum) == 8 * 2);
    graph.graph.parameters()[0].value = 5;
    run.parameters_changed();
    run.advance(2);
    CHECK(run.value(graph.sum) == 8 * 5);
}

TEST_CASE("objects are seen on their own patch alone, and what a step makes and nobody keeps needs no pack") {
    OneLine line;
    const auto tree = line.graph.object<std::vector<int>>("tree", line.grid);
    line.step("grow").make(tree);
    Task look = line.step("look");
    look.need(tree);
    CHECK(line.refused() == "nothing");
    const auto& beside = line.graph.add<Overlap>("beside", line.grid, line.grid);
    look.use({Access::need, tree.at(0), &beside, {}});
    CHECK(says(line.refused(), {"task 'look' uses the object 'tree' through relation 'beside'"}));
    OneLine wide;
    const auto bush = wide.graph.object<std::vector<int>>("bush", wide.grid);
    wide.step("grow").make(bush);
    wide.step("look").use({Access::need, bush.at(0), nullptr, {1, 0, 0}});
    CHECK(says(wide.refused(), {"task 'look' uses 'bush' with ghosts", "ghosts of fields"}));
    OneLine added;
    const auto heap = added.graph.object<std::vector<int>>("heap", added.grid);
    added.step("grow").use({Access::sum, heap.at(0), nullptr, {}});
    CHECK(says(added.refused(), {"task 'grow' adds to 'heap'"}));
}
