// Orders within a task across joined faces of zones.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/declare/levels.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declared.hpp"
#include "tests/graph/solvers/swept.hpp"

using namespace strata::graph;
using namespace strata::tests;
using strata::graph::testing::says;

TEST_CASE("sweeps across joined faces are what one loop over the whole domain gives, bit for bit") {
    for (const int threads : {1, 2, 3})
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            Swept swept;
            Simulation run(swept.graph, Members::alone(), {.threads = threads, .shuffle = {.seed = seed}});
            run.start();
            run.advance(5);
            CAPTURE(threads, seed);
            CHECK(swept.values(run) == Swept::reference(5));
        }
}

namespace {

/// Two zones of 4 x 2 cells in two patches each, joined as `join` says; what a sweep over them is told.
struct Pair {
    Graph graph{"pair"};
    const Zones* zones = nullptr;
    Field<double> u;

    explicit Pair(const std::function<void(ZoneList&)>& join) {
        ZoneList list("pair");
        for (int zone = 0; zone < 2; ++zone) list.zone({{0, 0, 0}, {4, 2, 1}}, {2, 2, 1});
        join(list);
        zones = &graph.add<Zones>(std::move(list));
        u = graph.field<double>("u", *zones, On::cells);
        Task first = graph.start().task("first", *zones);
        first.make(u), first.run([](Here&) {});
    }
    std::string modified(const Upwind& order) {
        Task sweep = graph.step().task("sweep", *zones);
        sweep.modify(u, order), sweep.run([](Here&) {});
        return told();
    }
    std::string made(const Upwind& order) {
        Task sweep = graph.step().task("sweep", *zones);
        const auto v = graph.field<double>("v", *zones, On::cells);
        sweep.make(v), sweep.need(v, order), sweep.run([](Here&) {});
        return told();
    }
    std::string told() {
        try {
            (void)resolve(graph);
        } catch (const strata::Error& error) {
            return error.text();
        }
        return "nothing";
    }
};

void in_line(ZoneList& list) { list.join(0, {0, true}, 1, {0, false}, {1, 2, 3}); }
void ends_together(ZoneList& list) { list.join(0, {0, true}, 1, {0, true}, {-1, 2, 3}); }
void ring(ZoneList& list) {
    in_line(list);
    list.join(1, {0, true}, 0, {0, false}, {1, 2, 3});
}

}  // namespace

TEST_CASE("an order across joins that would be a circle is refused with its zones") {
    CHECK(Pair(in_line).modified(upwind(0, 1)) == "nothing");
    CHECK(Pair(in_line).modified(upwind(0, -1)) == "nothing");
    const auto circle = {"task 'sweep' goes over patches of 'pair'", "in a circle across joined faces",
                         "of zone 0", "of zone 1", "turn the zones"};
    CHECK(says(Pair(ends_together).modified(upwind(0, 1)), circle));
    CHECK(says(Pair(ring).modified(upwind(0, 1)), circle));
    CHECK(Pair(ring).modified(upwind(1, 1)) == "nothing");
    SECTION("what is only made may begin, or end, where zones meet head to head") {
        CHECK(Pair(ends_together).made(upwind(0, 1)) == "nothing");
        CHECK(says(Pair(ends_together).made(upwind(0, -1)), circle));
    }
}

TEST_CASE("levels go on beyond a join") {
    const auto levels = [](const std::function<void(ZoneList&)>& join, const Upwind& order, bool in_place) {
        const Pair pair(join);
        const PatchLevels all(*pair.zones, order, in_place);
        return std::vector{all.of(0), all.of(1), all.of(2), all.of(3)};
    };
    CHECK(levels(in_line, upwind(0, 1), true) == std::vector{0, 1, 2, 3});
    CHECK(levels(in_line, upwind(0, -1), false) == std::vector{3, 2, 1, 0});
    CHECK(levels(ends_together, upwind(0, 1), false) == std::vector{0, 1, 0, 1});
    CHECK(levels([](ZoneList&) {}, upwind(0, 1), true) == std::vector{0, 1, 0, 1});
}

TEST_CASE("who makes values anew waits for those that read them across a turned join") {
    // x of the second zone is y of the first, which has no order along y and does not look there itself.
    ZoneList list("corner");
    list.zone({{0, 0, 0}, {4, 2, 1}}, {4, 2, 1});
    list.zone({{0, 0, 0}, {2, 4, 1}}, {2, 4, 1});
    list.join(1, {0, false}, 0, {1, true}, {2, 1, 3});
    Graph graph("corner");
    const Zones& zones = graph.add<Zones>(std::move(list));
    const auto v = graph.field<double>("v", zones, On::cells);
    std::atomic<int> wrong = 0;
    Task sweep = graph.step().task("sweep", zones);
    sweep.run([&wrong, now = sweep.make(v), before = sweep.need(v, upwind(0, 1))](Here& here) {
        if (here.patch == 1) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            for (int j = 0; j < 4; ++j)
                wrong += here[before](-1, j) != static_cast<double>(10 * here.step + j);
        }
        for (int j = here.cells().lo[1]; j < here.cells().hi[1]; ++j)
            for (int i = 0; i < here.cells().hi[0]; ++i)
                here[now](i, j) = static_cast<double>(10 * here.step + i);
    });
    Simulation run(graph, Members::alone(), {.threads = 2});
    run.start();
    run.advance(5);
    CHECK(wrong == 0);
}
