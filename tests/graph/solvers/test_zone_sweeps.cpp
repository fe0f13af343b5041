// Orders within a task across joined faces of zones.
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/declare/levels.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/declared.hpp"
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
    CHECK(says(Pair(ring).modified(upwind(0, 1)), {"upwind(...).within_zones()"}));
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
    for (const auto join : {in_line, ends_together, ring}) {
        CHECK(levels(join, upwind(0, 1).within_zones(), true) == std::vector{0, 1, 0, 1});
        CHECK(levels(join, upwind(0, -1).within_zones(), false) == std::vector{1, 0, 1, 0});
    }
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

namespace {

/// In each step, on a ring of a zone and one whose x runs the other way: a sweep up in place, one back that
/// is made, both within zones, and before them a need across the joins that fills the same ghosts.
struct Within {
    Graph graph{"within"};
    const Zones* zones = nullptr;
    Field<double> u, v;

    Within() {
        ZoneList list("within");
        list.zone({{0, 0, 0}, {7, 4, 1}}, {3, 2, 1});
        list.zone({{0, 0, 0}, {5, 4, 1}}, {2, 4, 1});
        ends_together(list);
        list.join(0, {0, false}, 1, {0, false}, {-1, 2, 3});
        zones = &graph.add<Zones>(std::move(list));
        u = graph.field<double>("u", *zones, On::cells);
        v = graph.field<double>("v", *zones, On::cells, {.kept = true});
        Task first = graph.start().task("first", *zones);
        first.run([this, now = first.make(u)](Here& here) {
            for_each(here.cells(),
                     [&](int i, int j, int k) { here[now](i, j, k) = at_first(zone(here), i, j); });
        });
        Task look = graph.step().task("look", *zones);
        look.run([all = look.need(u, ghosts(1)),
                  total = look.make(graph.field<double>("total", *zones, On::cells))](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                here[total](i, j, k) = here[all](i - 1, j, k) + here[all](i + 1, j, k);
            });
        });
        Task up = graph.step().task("up", *zones);
        up.run([now = up.modify(u, upwind({1, 1, 0}).within_zones())](Here& here) {
            for_each(here.cells(), [&](int i, int j, int) { relax(here[now], i, j); });
        });
        Task back = graph.step().task("back", *zones);
        const auto made = back.make(v);
        const auto before = back.need(v, upwind({-1, 1, 0}).with_corners().within_zones());
        back.run([=, now = back.need(u.at(1))](Here& here) {
            const Box own = here.cells();
            for (int j = own.lo[1]; j < own.hi[1]; ++j)
                for (int i = own.hi[0] - 1; i >= own.lo[0]; --i)
                    here[made](i, j) = here[now](i, j) + handed_on(here[before], i, j);
        });
    }
    [[nodiscard]] int zone(const Here& here) const { return zones->zone_of(here.patch); }
    static double at_first(int zone, int i, int j) { return 1 + zone + 0.3 * i - 0.7 * j * j; }
    template <class View>
    static double or_0(const View& view, int i, int j) {
        return view.box().contains(Int3{i, j, 0}) ? static_cast<double>(view(i, j)) : 0.0;
    }
    template <class View>
    static void relax(const View& u, int i, int j) {
        u(i, j) = 0.4 * u(i, j) + 0.3 * or_0(u, i - 1, j) + 0.1 * or_0(u, i + 1, j) +
                  0.2 * or_0(u, i, j - 1) + 0.05 * or_0(u, i, j + 1);
    }
    template <class View>
    static double handed_on(const View& v, int i, int j) {
        return 0.5 * or_0(v, i + 1, j) + 0.25 * or_0(v, i, j - 1) + 0.125 * or_0(v, i + 1, j - 1);
    }
    /// u and v of a zone, x fastest, by loops over it alone.
    [[nodiscard]] static std::array<std::vector<double>, 2> reference(int zone, const Box& cells, int steps) {
        std::array<std::vector<double>, 2> all;
        std::array<std::vector<FieldView<double>>, 2> views;
        for (std::size_t f = 0; f < 2; ++f) {
            all[f].resize(static_cast<std::size_t>(cells.volume()));
            views[f].emplace_back(all[f].data(), cells.extent(0), cells.volume(), cells.volume(), cells);
        }
        const FieldView<double>&u = views[0][0], &v = views[1][0];
        for_each(cells, [&](int i, int j, int) { u(i, j) = at_first(zone, i, j); });
        for (int step = 0; step < steps; ++step) {
            for_each(cells, [&](int i, int j, int) { relax(u, i, j); });
            for (int j = 0; j < cells.hi[1]; ++j)
                for (int i = cells.hi[0] - 1; i >= 0; --i) v(i, j) = u(i, j) + handed_on(v, i, j);
        }
        return all;
    }
};

}  // namespace

TEST_CASE("a sweep within zones is that of each zone by itself, on a ring whose axes go against each other") {
    for (const int threads : {1, 2, 3})
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            Within within;
            Simulation run(within.graph, Members::alone(), {.threads = threads, .shuffle = {.seed = seed}});
            run.start();
            run.advance(4);
            CAPTURE(threads, seed);
            for (int patch = 0; patch < within.zones->patches(); ++patch) {
                const int zone = within.zones->zone_of(patch);
                const Box whole = within.zones->cells(zone), own = within.zones->box(patch);
                const auto expected = Within::reference(zone, whole, 4);
                const std::array is{values_of<double>(run, within.u.id(), patch),
                                    values_of<double>(run, within.v.id(), patch)};
                std::size_t n = 0;
                for_each(own, [&](int i, int j, int) {
                    const auto at = static_cast<std::size_t>(i + whole.extent(0) * j);
                    CHECK(is[0].at(n) == expected[0].at(at));
                    CHECK(is[1].at(n) == expected[1].at(at));
                    ++n;
                });
            }
        }
}
