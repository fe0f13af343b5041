// Objects that are made again after a restart: a checkpoint names the task that made each of them.
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "core/run/checkpoint/makers.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/declared.hpp"

using namespace strata::graph;
using strata::graph::testing::error_of;
using strata::graph::testing::says;

namespace {

using Bytes = std::vector<std::byte>;
constexpr int kPatches = 4;

/// A tree of each patch grows at the start, and anew in every third step; each step adds up its leaves.
struct Grown : strata::graph::testing::FourPatches {
    Field<double> x = graph.field<double>("x", grid, On::cells);
    Object<std::vector<double>> tree = graph.object<std::vector<double>>("tree", grid);
    Scalar<double> leaves = graph.scalar<double>("leaves", Reduce::sum);

    /// `otherwise`: the same tasks in another order, and one more before them.
    explicit Grown(bool otherwise) {
        if (otherwise) {
            (void)start("idle").make(field("idle"));
            in_step(), at_start();
        } else {
            at_start(), in_step();
        }
    }
    [[nodiscard]] const LabelInfo& label() const { return graph.labels()[tree.id()]; }

  private:
    void at_start() {
        Task first = graph.start().task("first", grid);
        first.run([x = first.make(x)](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) { here[x](i, j, k) = 1 + i; });
        });
        grow(graph.start(), "grow", 2);
    }
    void in_step() {
        const auto now = graph.scalar<double>("now");
        Task clock = graph.step().once("clock");
        clock.run([now = clock.make(now)](Here& here) { here[now] = static_cast<double>(here.step % 3); });
        grow(graph.step().when<double>("now and then", now, [](double n) { return n == 0; }), "grow anew", 5);
        Task climb = graph.step().task("climb", grid);
        climb.run([t = climb.need(tree.last()), sum = climb.contribute(leaves)](Here& here) {
            for (const double each : here[t]) here[sum] += each;
        });
    }
    void grow(Scope& scope, const char* name, double by) {
        Task task = scope.task(name, grid);
        task.run([by, x = task.need(x), t = task.make(tree)](Here& here) {
            here[t].clear();
            for_each(here.cells(), [&](int i, int j, int k) {
                here[t].push_back(by * here[x](i, j, k) + static_cast<double>(here.step));
            });
        });
    }
};

int patches_of(const Graph& graph, const Kept& kept) {
    return graph.labels()[kept.label].family == nullptr ? 1 : kPatches;
}

/// What a run has, by label, generation and patch, as files of this format have it.
std::map<std::tuple<std::string, int, int>, Bytes> saved(const Graph& graph, const Simulation& run,
                                                         int format) {
    std::map<std::tuple<std::string, int, int>, Bytes> all;
    for (const Kept& kept : kept_versions(run.plan()))
        for (int patch = 0; patch < patches_of(graph, kept); ++patch) {
            const LabelInfo& label = graph.labels()[kept.label];
            Bytes bytes = run.values(kept, patch);
            if (is_made_again(label) && format > 1) name_maker(graph, bytes);
            all[{label.name, kept.back, patch}] = bytes;
        }
    return all;
}

Bytes bytes_of(std::initializer_list<std::int64_t> numbers, const std::string& name = "") {
    Bytes bytes(numbers.size() * sizeof(std::int64_t) + name.size());
    std::memcpy(bytes.data(), numbers.begin(), numbers.size() * sizeof(std::int64_t));
    if (!name.empty())
        std::memcpy(bytes.data() + numbers.size() * sizeof(std::int64_t), name.data(), name.size());
    return bytes;
}

}  // namespace

TEST_CASE("a restart has the objects of the tasks of the same names, in whatever order they are declared") {
    for (const int format : {1, 2})
        for (const int steps : {2, 3, 4}) {
            CAPTURE(format, steps);
            Grown before(false), after(true);
            Simulation run(before.graph, Members::alone(), {}), again(after.graph, Members::alone(), {});
            run.start();
            run.advance(steps);
            const auto values = saved(before.graph, run, format);
            again.restore(steps, [&](const Plan& plan) {
                for (const Kept& kept : kept_versions(plan))
                    for (int patch = 0; patch < patches_of(after.graph, kept); ++patch) {
                        const LabelInfo& label = after.graph.labels()[kept.label];
                        Bytes bytes = values.at({label.name, kept.back, patch});
                        if (is_made_again(label)) number_maker(after.graph, label, format, bytes);
                        write_values(plan, kept, patch, 0, bytes);
                    }
            });
            run.advance(1), again.advance(1);
            CHECK(again.value(after.leaves) == run.value(before.leaves));
            CHECK(run.value(before.leaves) > 0);
        }
}

TEST_CASE("a checkpoint has the step, the round and the name of the task that made an object") {
    const Grown grown(false);
    TaskId maker;
    for (const TaskInfo& task : grown.graph.tasks())
        if (task.name == "grow anew") maker = task.id;
    Bytes call = bytes_of({maker.number(), 6, 1});
    name_maker(grown.graph, call);
    CHECK(call == bytes_of({6, 1}, "grow anew"));
    number_maker(grown.graph, grown.label(), 2, call);
    CHECK(call == bytes_of({maker.number(), 6, 1}));
    Bytes none = bytes_of({-1, 0, 0});
    name_maker(grown.graph, none);
    CHECK(none == bytes_of({0, 0}));
    number_maker(grown.graph, grown.label(), 2, none);
    CHECK(none == bytes_of({-1, 0, 0}));
}

TEST_CASE("a task that made an object and does so no more is named") {
    const Grown grown(false);
    Bytes call = bytes_of({6, 1}, "plant");
    CHECK(says(error_of([&] { number_maker(grown.graph, grown.label(), 2, call); }),
               {"the object 'tree'", "'plant'", "'grow', 'grow anew'", "start anew"}));
    call = bytes_of({6, 1}, "climb");  // is there, and makes no tree
    CHECK(says(error_of([&] { number_maker(grown.graph, grown.label(), 2, call); }), {"'climb'"}));
    call = bytes_of({6});
    CHECK(says(error_of([&] { number_maker(grown.graph, grown.label(), 2, call); }), {"8 bytes"}));
}

TEST_CASE("a number of an earlier version is read where one task alone may be meant") {
    Grown grown(false);
    Bytes call = bytes_of({77, 0, 0});
    number_maker(grown.graph, grown.label(), 1, call);
    CHECK(call == bytes_of({1, 0, 0}));  // "grow", the second task
    call = bytes_of({-1, 0, 0});
    number_maker(grown.graph, grown.label(), 1, call);
    CHECK(call == bytes_of({-1, 0, 0}));
    (void)grown.start("sow").make(grown.tree);
    call = bytes_of({1, 0, 0});
    CHECK(says(error_of([&] { number_maker(grown.graph, grown.label(), 1, call); }),
               {"an earlier version of Strata", "task 1, in step 0", "'grow', 'sow'"}));
}
