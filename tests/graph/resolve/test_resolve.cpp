// What declarations mean: versions, storages, order.
#include <algorithm>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/declared.hpp"
#include "tests/graph/resolve/simulated.hpp"

using namespace strata::graph;
using strata::tests::Simulation;

namespace {

constexpr int kPatches = 5;

struct Solver : strata::graph::testing::Declared {
    Solver()
        : Declared({.cells = {{0, 0, 0}, {20, 1, 1}},
                    .patch_cells = {4, 1, 1},
                    .periodic = {true, false, false}}) {}
};

const ResolvedTask& named(const Resolved& r, const std::string& name) {
    return *std::find_if(r.tasks.begin(), r.tasks.end(),
                         [&](const ResolvedTask& t) { return t.name == name; });
}

std::string waits(const Resolved& r, const std::string& name) {
    std::string text;
    for (const Before& b : named(r, name).before) {
        text += text.empty() ? "" : ", ";
        text += r.tasks[b.task].name + "-" + std::to_string(b.lag);
        if (b.through_use >= 0) text += b.backward ? " backward" : " through";
    }
    return text;
}

std::string sound(const Solver& solver, const Resolved& r, int steps = 5) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed)
        if (std::string wrong = Simulation(solver.graph, r, kPatches, seed).run(steps); !wrong.empty())
            return wrong;
    return {};
}

}  // namespace

TEST_CASE("a label with a history of one alternates between two buffers, and waits for its neighbours once") {
    Solver s;
    auto u = s.field("u", 1);
    s.start("initial").make(u);
    Task diffuse = s.step("diffuse");
    diffuse.need(u.previous(), ghosts(1));
    diffuse.make(u);
    const Resolved r = resolve(s.graph);
    REQUIRE(r.storages.size() == 1);
    CHECK(r.storages.at(0).depth == 2);
    CHECK(r.storages.at(0).kept);
    CHECK(r.storages.at(0).ghosts == Int3{1, 1, 1});
    // That neighbours have read what is overwritten follows from having their values: one wait is enough.
    CHECK(waits(r, "diffuse") == "diffuse-1 through");
    CHECK(named(r, "diffuse").uses[0].back == 1);
    CHECK(r.critical_path.size() == 1);
    CHECK(sound(s, r) == "");
}

TEST_CASE("modify waits for the readers of what it overwrites, whatever the order of adding") {
    Solver s;
    auto u = s.field("u");
    auto flux = s.field("flux");
    Task update = s.step("update");
    update.need(flux, ghosts(1));
    update.modify(u);
    Task fluxes = s.step("fluxes");
    fluxes.need(u, ghosts(1));
    fluxes.make(flux);
    s.start("initial").make(u);
    const Resolved r = resolve(s.graph);
    CHECK(r.tasks[r.critical_path.front()].name == "fluxes");
    CHECK(waits(r, "fluxes").find("update-1 through") == 0);
    CHECK(sound(s, r) == "");
    const auto kept = [&](Field<double> label) {
        return std::find_if(r.storages.begin(), r.storages.end(),
                            [&](const Storage& x) { return x.label == label.id(); })
            ->kept;
    };
    CHECK(kept(u));
    CHECK_FALSE(kept(flux));
}

TEST_CASE("temporaries that do not live at the same time share a storage") {
    Solver s;
    auto u = s.field("u");
    std::vector<Field<double>> stage;
    s.start("initial").make(u);
    for (int i = 0; i < 6; ++i) stage.push_back(s.field("stage" + std::to_string(i)));
    for (std::size_t i = 0; i < 6; ++i) {
        Task t = s.step("make" + std::to_string(i));
        if (i == 0)
            t.need(u, ghosts(1));
        else
            t.need(stage[i - 1], ghosts(1));
        t.make(stage[i]);
    }
    Task last = s.step("update");
    last.need(stage[5], ghosts(1));
    last.modify(u);
    const Resolved r = resolve(s.graph);
    CHECK(r.storages.size() == 3);  // u, and two in turn
    CHECK(sound(s, r) == "");
}

TEST_CASE("who shares a storage waits for its readers, though tasks of a scope in between do not") {
    // "use" is before the scope, and "take" after it, but the scope's two tasks have no order.
    Solver s;
    auto u = s.field("u"), early = s.field("early"), seen = s.field("seen"), other = s.field("other"),
         late = s.field("late");
    s.start("initial").make(u);
    s.step("give").make(early);
    Task use = s.step("use");
    use.need(early, ghosts(1));
    use.make(seen);
    Scope& scope = s.graph.step().subcycle("between", 2);
    Task one = scope.task("one", s.grid), two = scope.task("two", s.grid);
    one.need(seen);
    one.modify(u);
    two.make(other);
    for (Task* task : {&one, &two}) task->run([](Here&) {});
    Task take = s.step("take");
    take.need(other.last());
    take.make(late);
    Task last = s.step("last");
    last.need(late, ghosts(1));
    last.modify(u.at(1));
    const Resolved r = resolve(s.graph);
    const auto storage = [&](const std::string& task, std::size_t number) {
        return named(r, task).uses[number].storage;
    };
    REQUIRE(storage("give", 0) == storage("take", 1));
    CHECK(waits(r, "take").find("use-0 backward") != std::string::npos);
    CHECK(sound(s, r) == "");
}

TEST_CASE("contributions are added by a task of their own, which its readers wait for") {
    Solver s;
    auto x = s.field("x");
    auto mass = s.field("mass");
    s.start("initial").make(x);
    Task scatter = s.step("scatter");
    scatter.need(x);
    scatter.sum(mass, ghosts(1));
    Task more = s.step("add more");
    more.sum(mass, ghosts(2));
    Task gather = s.step("gather");
    gather.need(mass, ghosts(1));
    gather.modify(x);
    const Resolved r = resolve(s.graph);
    const ResolvedTask& sum = named(r, "sum of 'mass'");
    CHECK(sum.what == ResolvedTask::What::combine);
    REQUIRE(sum.uses.size() == 3);
    CHECK(r.tasks[sum.uses[1].maker].name == "add more");  // by name
    CHECK(r.storages[sum.uses[1].storage].contributions);
    CHECK(waits(r, "gather").find("sum of 'mass'-0 through") == 0);
    CHECK(sound(s, r) == "");
}

TEST_CASE("a loop carries its values from round to round and gives them back") {
    Solver s;
    auto x = s.field("x");
    auto r0 = s.field("r", 1);
    auto p = s.field("p");
    auto norm = s.graph.scalar<double>("norm", Reduce::sum);
    s.start("initial").make(x);
    Task residual = s.step("residual");
    residual.need(x, ghosts(1));
    residual.make(r0);
    Scope& loop = s.graph.step().repeat<double>(
        "solve", norm, [](double n) { return n < 1; }, 4);
    Task direction = s.task(loop, "direction");
    direction.need(r0.previous(), ghosts(1));
    direction.make(p);
    Task advance = s.task(loop, "advance");
    advance.need(p, ghosts(1));
    advance.need(r0.previous());
    advance.make(r0);
    advance.modify(x);
    advance.contribute(norm);
    Task after = s.step("after");
    auto answer = s.field("answer");
    after.need(x.last(), ghosts(1));
    after.need(r0.last());
    after.need(norm.last());
    after.make(answer);
    const Resolved r = resolve(s.graph);
    const ResolvedScope& solve = r.scopes[loop.id()];
    CHECK(r.tasks[solve.decided_by].name == "reduction of 'norm' in 'solve'");
    CHECK(r.scopes[kStep].order.size() == 3);
    CHECK(named(r, "after").uses[0].version == 1);
    CHECK(sound(s, r) == "");
}

TEST_CASE("a part that may not run gives back what it took") {
    Solver s;
    auto u = s.field("u");
    auto list = s.field("list");
    auto moved = s.graph.scalar<double>("moved", Reduce::max);
    Task initial = s.start("initial");
    initial.make(u);
    initial.make(list);
    Task measure = s.step("measure");
    measure.need(u);
    measure.contribute(moved);
    Scope& rebuild = s.graph.step().when<double>("rebuild", moved, [](double m) { return m > 1; });
    Task build = s.task(rebuild, "build");
    build.need(u, ghosts(1));
    build.make(list);
    Task use = s.step("use");
    use.need(list.at(1), ghosts(1));
    use.modify(u);
    const Resolved r = resolve(s.graph);
    CHECK(bool(r.scopes[rebuild.id()].decided_by));
    CHECK(sound(s, r, 8) == "");
}
