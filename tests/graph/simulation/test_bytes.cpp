// What a simulation says its memory is used for, against what is known of it.
#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/bytes.hpp"

#include <array>
#include <string>

#include "core/graph/simulation/simulation.hpp"
#include "tests/catch.hpp"

using namespace strata::graph;

namespace {

/// `cells` on a ring in patches of 10, two generations of doubles; each patch contributes to so many scalars.
struct Ring {
    Graph graph{"ring"};

    explicit Ring(int cells, int scalars = 0) {
        Grid& ring = graph.grid(
            "ring", {.cells = {{0, 0, 0}, {cells, 1, 1}}, .patch_cells = {10, 1, 1}, .periodic = {true}});
        const auto u = graph.field<double>("u", ring, On::cells, {.history = 1});
        Task first = graph.start().task("first", ring);
        const auto made = first.make(u);
        first.run([=](Here& here) {
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) here[made](i) = i;
        });
        Task step = graph.step().task("shift", ring);
        const auto old = step.need(u.previous(), ghosts(1));
        const auto now = step.make(u);
        for (int i = 0; i < scalars; ++i)
            (void)step.contribute(graph.scalar<double>("sum " + std::to_string(i), Reduce::sum));
        step.run([=](Here& here) {
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) here[now](i) = here[old](i - 1);
        });
    }
};

}  // namespace

TEST_CASE("a run knows the bytes of its values, of what lies around them, and of the runtime") {
    if (!heap_bytes()) CANNOT_TRY("this C library does not tell what it has given out");
    std::uint64_t runtime[2];
    for (const int patches : {1000, 2000}) {
        Ring ring(10 * patches);
        const auto before = static_cast<std::int64_t>(*heap_bytes());
        Simulation run(ring.graph, Members::alone());
        run.start();
        run.advance(10);
        const auto grown = static_cast<std::int64_t>(*heap_bytes()) - before;
        const RunBytes bytes = run.bytes();
        CHECK(bytes.values == static_cast<std::uint64_t>(patches) * 10 * 2 * sizeof(double));
        // One block, with a ghost at either end of each generation: in whole lines and pages.
        CHECK(bytes.copies >= 4 * sizeof(double));
        CHECK(bytes.copies < 8192);
        const auto heap = static_cast<std::int64_t>(*bytes.runtime - run.plan().shared_bytes());
        CAPTURE(patches, heap, grown);
        CHECK(heap > patches * static_cast<std::int64_t>(sizeof(Op) + sizeof(TaskCall)));
        CHECK(std::abs(grown - heap) < grown / 50);  // nothing of the simulation is left out
        runtime[patches / 1000 - 1] = *bytes.runtime;
    }
    const double ratio = static_cast<double>(runtime[1]) / static_cast<double>(runtime[0]);
    CHECK(ratio > 1.8);
    CHECK(ratio < 2.1);
}

TEST_CASE(
    "the runtime's bytes of a patch are few: what calls share is kept once, and contributions lie one behind "
    "the other") {
    if (!heap_bytes()) CANNOT_TRY("this C library does not tell what it has given out");
    constexpr int patches = 1000;
    const auto runtime_of = [](int scalars) {
        Ring ring(10 * patches, scalars);
        Simulation run(ring.graph, Members::alone());
        run.start();
        run.advance(2);
        return static_cast<double>(*run.bytes().runtime) / patches;
    };
    const double without = runtime_of(0), with = runtime_of(3);
    CAPTURE(without, with);
    CHECK(without < 260);
    CHECK(with - without < 60);
}

namespace {

/// Values and runtime of a graph in which each of so many patches has an object of T.
template <class T>
RunBytes with_objects(int patches) {
    Graph graph("objects");
    Grid& line = graph.grid("line", {.cells = {{0, 0, 0}, {patches, 1, 1}}, .patch_cells = {1, 1, 1}});
    const auto object = graph.object<T>("object", line);
    Task task = graph.step().task("make", line);
    (void)task.make(object);
    task.run([](Here&) {});
    Simulation run(graph, Members::alone());
    run.start();
    return run.bytes();
}

}  // namespace

TEST_CASE("objects count as values, and not as the runtime's too") {
    if (!heap_bytes()) CANNOT_TRY("this C library does not tell what it has given out");
    constexpr int patches = 500;
    struct Small {
        double one = 0;
    };
    struct Large {
        std::array<double, 512> all{};
    };
    const RunBytes small = with_objects<Small>(patches), large = with_objects<Large>(patches);
    CHECK(small.values == patches * sizeof(Small));
    CHECK(large.values == patches * sizeof(Large));
    CAPTURE(*small.runtime, *large.runtime);
    // All but what the heap adds to each piece.
    CHECK(*large.runtime < *small.runtime + patches * 2 * sizeof(void*));
    CHECK(*small.runtime < *large.runtime + patches * 2 * sizeof(void*));
}
