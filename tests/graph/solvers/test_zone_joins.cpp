// Zones and their joins: which cell is where, what ghosts hold where there is none, what is refused, what a
// plan costs.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/expand/halos/halo.hpp"
#include "core/graph/expand/halos/reach.hpp"
#include "core/graph/resolve/resolved.hpp"
#include "tests/catch.hpp"
#include "tests/graph/solvers/any_zones.hpp"

using namespace strata::graph;
using namespace strata::tests;

namespace {

template <class Call>
std::string refusal(Call call) {
    try {
        call();
    } catch (const strata::Error& error) {
        return error.text();
    }
    return "nothing";
}

bool says(const std::string& text, const std::vector<std::string>& parts) {
    INFO(text);
    for (const std::string& part : parts)
        if (text.find(part) == std::string::npos) return false;
    return true;
}

}  // namespace

TEST_CASE("maps between index spaces: there and back, one after the other, boxes cell by cell") {
    std::mt19937_64 random(1);
    for (int round = 0; round < 200; ++round) {
        const auto any = [&] { return IndexMap{any_width(random, 9), any_axes(random)}; };
        const IndexMap a = any(), b = any();
        const Int3 at = any_width(random, 5);
        CHECK(a.inverse()(a(at)) == at);
        CHECK(a.after(a.inverse()) == IndexMap{});
        CHECK(a.after(b)(at) == a(b(at)));
        const Box box{at, plus(at, {1 + pick(random, 0, 3), 2, 3})};
        Box each;
        each_index(box, [&](const Int3& cell) { each = around(each, {a(cell), plus(a(cell), {1, 1, 1})}); });
        CHECK(a(box) == each);
    }
}

TEST_CASE("every cell around a patch is found once, or told to be missing") {
    std::mt19937_64 random(3);
    std::vector<Grid::Meeting> met;
    for (int round = 0; round < 100; ++round) {
        const Domain domain = any_domain(random);
        const std::vector<ZonePart> parts = any_parts(random, domain.cells, pick(random, 1, 7));
        const Zones zones(joined("zones", domain, parts));
        const int patch = pick(random, 0, zones.patches() - 1), zone = zones.zone_of(patch);
        const IndexMap from = parts[z(zone)].to_zone().inverse();
        const Box asked = zones.box(patch).grown(any_width(random, 4));
        zones.find_owners_in(zone, asked, On::cells, {}, met);
        const std::vector<Box> missing = zones.missing_in(zone, asked, On::cells, {});
        bool right = true;
        each_index(asked, [&](const Int3& at) {
            Int3 there = from(at);
            bool in = true;
            for (std::size_t a = 0; a < 3; ++a) {
                const int n = domain.cells.extent(static_cast<int>(a));
                if (domain.periodic[a])
                    there[a] = domain.cells.lo[a] + ((there[a] - domain.cells.lo[a]) % n + n) % n;
                in = in && there[a] >= domain.cells.lo[a] && there[a] < domain.cells.hi[a];
            }
            int found = 0;
            for (const Grid::Meeting& m : met) {
                if (!m.box.contains(at)) continue;
                ++found;
                const Int3 theirs = IndexMap{m.shift, m.axes}.inverse()(at);
                const IndexMap out = parts[z(zones.zone_of(m.patch))].to_zone().inverse();
                right = right && zones.box(m.patch).contains(theirs) && out(theirs) == there;
            }
            const auto lost = std::count_if(missing.begin(), missing.end(),
                                            [&](const Box& box) { return box.contains(at); });
            right = right && found == (in ? 1 : 0);
            const bool beyond = !zones.extent_in(zone, On::cells, {}).contains(at);
            right = right && (in ? lost == 0 : lost == (beyond ? 0 : 1));
            right = right && zones.find(zone, at).has_value() == in;
        });
        INFO("round " << round);
        CHECK(right);
    }
}

TEST_CASE("who reads a patch is who has it among its sources, also where layers go one way only") {
    std::mt19937_64 random(6);
    bool one_way = false;
    for (int round = 0; round < 60; ++round) {
        const Domain domain = any_domain(random);
        Graph graph("g");
        const Zones& zones =
            graph.add<Zones>(joined("zones", domain, any_parts(random, domain.cells, pick(random, 1, 6))));
        Use use;
        use.version.label = graph.field<double>("u", zones, On::cells).id();
        use.width = any_width(random, 3);
        Reach reach(graph);
        std::vector<std::vector<int>> sources;
        for (int p = 0; p < zones.patches(); ++p) sources.push_back(reach.sources(use, p));
        const auto has = [](const std::vector<int>& all, int one) {
            return std::binary_search(all.begin(), all.end(), one);
        };
        bool right = true;
        for (int p = 0; p < zones.patches(); ++p) {
            const std::vector<int> readers = reach.readers(use, p);
            for (int q = 0; q < zones.patches(); ++q) {
                right = right && has(readers, q) == has(sources[z(q)], p);
                one_way = one_way || has(sources[z(p)], q) != has(sources[z(q)], p);
            }
        }
        INFO("round " << round);
        CHECK(right);
    }
    CHECK(one_way);
}

namespace {

/// What a task sees at the ghosts of patch 0, with ghosts of this width.
std::vector<std::pair<Int3, double>> seen_by_first(ZoneList list, const Int3& width,
                                                   const Int3& border = {}) {
    Graph graph("seen");
    const Zones& zones = graph.add<Zones>(std::move(list));
    const auto u = graph.field<double>("u", zones, On::cells, {.history = 1, .border = border});
    std::vector<std::pair<Int3, double>> seen;
    for (Scope* scope : {&graph.start(), &graph.step()}) {
        Task task = scope->task(scope == &graph.start() ? "first" : "next", zones);
        const auto now = task.make(u);
        std::optional<FieldUse<const double>> old;
        if (scope == &graph.step()) old = task.need(u.previous(), ghosts(width));
        task.run([&seen, &zones, now, old, border](Here& here) {
            each_index(zones.owned(here.patch, On::cells, border), [&](const Int3& at) {
                here[now](at[0], at[1], at[2]) = 1000 * here.patch + 100 * at[2] + 10 * at[1] + at[0];
            });
            if (!old || here.patch != 0) return;
            seen.clear();
            each_index(here[*old].box(), [&](const Int3& at) {
                if (!here.cells().contains(at)) seen.emplace_back(at, here[*old](at[0], at[1], at[2]));
            });
        });
    }
    Simulation run(graph, Members::alone());
    run.start();
    run.advance(3);
    return seen;
}

double at(const std::vector<std::pair<Int3, double>>& seen, const Int3& where) {
    for (const auto& [place, value] : seen)
        if (place == where) return value;
    return -1;  // not shown
}

}  // namespace

TEST_CASE("ghosts behind which no cell lies are NaN, and beyond a boundary there are none") {
    // Zone 1 lies above zone 0, and zone 2 to the right of it; at the corner there is nothing.
    ZoneList list("corner");
    for (int i = 0; i < 3; ++i) list.zone({{0, 0, 0}, {4, 4, 1}}, {4, 4, 1});
    list.join(0, {1, true}, 1, {1, false}, {1, 2, 3});
    list.join(0, {0, true}, 2, {0, false}, {1, 2, 3});
    const auto seen = seen_by_first(std::move(list), {1, 1, 0});
    CHECK(seen.size() == 9);
    CHECK(at(seen, {2, 4, 0}) == 1002);
    CHECK(at(seen, {4, 3, 0}) == 2030);
    CHECK(std::isnan(at(seen, {4, 4, 0})));
    CHECK(at(seen, {-1, 0, 0}) == -1);

    // The lower half alone of the right face is joined: with the upper half, turned round, of the same face
    // of zone 1.
    ZoneList half("half");
    for (int i = 0; i < 2; ++i) half.zone({{0, 0, 0}, {4, 4, 1}}, {4, 4, 1});
    half.join_parts(0, {{4, 0, 0}, {4, 2, 1}}, 1, {{4, 4, 0}, {4, 2, 1}}, {-1, -2, 3});
    const auto beside = seen_by_first(std::move(half), {2, 1, 0}, {1, 1, 0});
    CHECK(at(beside, {4, 0, 0}) == 1033);
    CHECK(at(beside, {5, 1, 0}) == 1022);
    CHECK(std::isnan(at(beside, {4, 2, 0})));
    CHECK(std::isnan(at(beside, {5, 4, 0})));
    CHECK(at(beside, {4, -1, 0}) == 1043);  // the layer that zone 1 owns beyond its upper y
    CHECK(at(beside, {6, 0, 0}) == -1);
}

TEST_CASE("the way to a corner goes through the faces along x first") {
    // Five quarters around a point: beyond x and then y lies another zone than beyond y and then x.
    ZoneList list("five");
    for (int i = 0; i < 5; ++i) list.zone({{0, 0, 0}, {2, 2, 1}}, {2, 2, 1});
    for (int i = 0; i < 5; ++i) list.join(i, {0, true}, (i + 1) % 5, {1, true}, {-2, 1, 3});
    const auto seen = seen_by_first(std::move(list), {1, 1, 0});
    CHECK(seen.size() == 5);
    CHECK(at(seen, {2, 0, 0}) == 1010);
    CHECK(at(seen, {0, 2, 0}) == 4001);
    CHECK(at(seen, {2, 2, 0}) == 2011);
}

TEST_CASE("patches of several zones are merged zone by zone, also where their indices continue each other") {
    ZoneList list("two");
    list.zone({{0, 0, 0}, {4, 4, 1}}, {2, 2, 1});
    list.zone({{4, 0, 0}, {8, 4, 1}}, {2, 4, 1});
    const Zones zones(std::move(list));
    const Division division = divide(zones, zones.Family::order());
    REQUIRE(division.parts.size() == 2);
    CHECK(division.parts[0].cells == zones.cells(0));
    CHECK(division.parts[1].cells == zones.cells(1));
    CHECK(division.of(division.parts[1]).front() == zones.first_patch(1));
}

TEST_CASE("joins that cannot be are refused with what was given and what may be") {
    ZoneList list("wing");
    CHECK(says(refusal([&] {
                   list.zone({{0, 0, 0}, {0, 4, 1}}, {1, 1, 1});
               }),
               {"'wing, zone 0' has no cells along x"}));
    list.zone({{0, 0, 0}, {8, 6, 1}}, {4, 3, 1});
    list.zone({{0, 0, 0}, {6, 5, 1}}, {6, 5, 1});
    const Face low{0, false}, right{0, true}, below{1, false}, top{1, true};
    const auto whole = [&](int zone, Face face, int donor, Face there, Int3 transform) {
        return refusal([&] { list.join(zone, face, donor, there, transform); });
    };
    const auto part = [&](const ZoneList::Points& points, const ZoneList::Points& donor) {
        return refusal([&] { list.join_parts(0, points, 1, donor, {2, -1, 3}); });
    };
    CHECK(says(whole(0, right, 2, low, {1, 2, 3}), {"'wing' has no such zone", "zone 2", "0 to 1"}));
    CHECK(says(whole(0, {3, true}, 1, low, {1, 2, 3}), {"no such face", "axis 3", "0 to 2"}));
    CHECK(says(whole(0, right, 1, below, {2, 2, 3}), {"zone 0 cannot be joined with zone 1", "(2, 2, 3)",
                                                      "each of 1, 2 and 3 once, with either sign"}));
    CHECK(says(whole(0, right, 1, low, {1, 2, 3}),
               {"not of one extent", "points (8, 0, 0) to (8, 6, 1) of zone 0",
                "(0, 0, 0) to (0, 5, 1) of zone 1", "allowed: points (0, 0, 0) to (0, 6, 1)"}));
    CHECK(
        says(whole(0, right, 1, below, {-2, -1, 3}), {"leads out of the donor", "-2 along x", "allowed: 2"}));
    CHECK(says(part({{8, 0, 0}, {8, 7, 1}}, {{6, 0, 0}, {0, 0, 1}}),
               {"lie outside it", "(8, 7, 1)", "(8, 6, 1)"}));
    CHECK(says(part({{8, 0, 0}, {8, 6, 1}}, {{7, 0, 0}, {1, 0, 1}}), {"zone 1 lie outside it"}));
    CHECK(says(part({{7, 0, 0}, {7, 6, 1}}, {{6, 0, 0}, {0, 0, 1}}), {"zone 0 are not on a face"}));
    CHECK(says(part({{7, 0, 0}, {8, 6, 1}}, {{6, 0, 0}, {0, 0, 1}}), {"not a part of one face"}));
    CHECK(says(part({{8, 6, 0}, {8, 0, 1}}, {{6, 0, 0}, {0, 0, 1}}), {"run downwards along y"}));
    CHECK(whole(0, right, 1, below, {2, -1, 3}) == "nothing");
    CHECK(says(whole(0, right, 1, top, {-2, 1, 3}),
               {"upper face along x of zone 0 is joined twice", "zone 1"}));
    CHECK(says(part({{0, 0, 0}, {0, 6, 1}}, {{6, 0, 0}, {0, 0, 1}}), {"leads out of the donor"}));
    list.zone({{0, 0, 0}, {6, 5, 1}}, {6, 5, 1});
    CHECK(says(whole(2, below, 2, below, {-1, -2, 3}),
               {"lower face along y of zone 2 is joined twice", "two halves"}));
    const auto fold = [&] {
        list.join_parts(2, {{0, 0, 0}, {3, 0, 1}}, 2, {{6, 0, 0}, {3, 0, 1}}, {-1, -2, 3});
    };
    CHECK(refusal(fold) == "nothing");
    CHECK(says(refusal([] { Zones(ZoneList("none")); }), {"'none' has no zones"}));
}

TEST_CASE("what joined zones do not have is refused before the first step") {
    const auto refused = [](On on, bool sum) {
        Graph graph("g");
        ZoneList list("two");
        for (int i = 0; i < 2; ++i) list.zone({{0, 0, 0}, {4, 4, 1}}, {2, 2, 1});
        list.join(0, {0, true}, 1, {0, false}, {1, 2, 3});
        const Zones& zones = graph.add<Zones>(std::move(list));
        const auto u = graph.field<double>("u", zones, on, {.history = 1});
        const auto v = graph.field<double>("v", zones, on);
        Task first = graph.start().task("first", zones), task = graph.step().task("work", zones);
        first.make(u), first.run([](Here&) {}), task.run([](Here&) {});
        sum ? (void)task.sum(v, ghosts(1)) : (void)task.need(u.previous(), ghosts(1));
        task.make(u);
        return refusal([&] { (void)resolve(graph); });
    };
    CHECK(refused(On::cells, false) == "nothing");
    CHECK(says(refused(On::nodes, false),
               {"'work'", "'u' with ghosts, but it lies on nodes", "1 layers in x on 'two'"}));
    CHECK(says(refused(On::cells, true), {"'work'", "adds to 'v' of its neighbours", "joined zones"}));
    Graph graph("g");
    ZoneList list("two");
    for (int i = 0; i < 2; ++i) list.zone({{0, 0, 0}, {4, 4, 1}}, {2, 2, 1});
    const Zones& zones = graph.add<Zones>(std::move(list));
    CHECK(
        says(refusal([&] { graph.particles("dust", zones); }), {"'dust' cannot lie on zones", "of 2 zones"}));
    CHECK(says(refusal([&] { graph.add<Overlap>("o", zones, zones); }), {"'o'", "2 zones", "Gather"}));
}

namespace {

/// A block of zones of 8^3 cells in patches of `patch_cells`, every one turned; joined with all neighbours.
ZoneList block_of_zones(const Int3& zones, int patch_cells) {
    std::mt19937_64 random(5);
    ZoneList list("many");
    const auto number = [&](const Int3& at) { return at[0] + zones[0] * (at[1] + zones[1] * at[2]); };
    std::vector<ZonePart> parts;
    for (int i = 0; i < zones[0] * zones[1] * zones[2]; ++i) {
        const Int3 at{i % zones[0], i / zones[0] % zones[1], i / (zones[0] * zones[1])};
        const Int3 lo{8 * at[0], 8 * at[1], 8 * at[2]};
        parts.push_back(
            {{lo, plus(lo, {8, 8, 8})}, any_axes(random), {}, {patch_cells, patch_cells, patch_cells}});
        list.zone({{0, 0, 0}, {8, 8, 8}}, parts.back().patch_cells);
    }
    each_index({{0, 0, 0}, zones}, [&](const Int3& at) {
        for (std::size_t a = 0; a < 3; ++a) {
            Int3 next = at;
            if (++next[a] == zones[a]) continue;
            const IndexMap to = parts[z(number(at))].to_zone();
            const IndexMap there = to.after(parts[z(number(next))].to_zone().inverse());
            const auto face = [&](const IndexMap& of, bool upper) {
                std::size_t axis = 0;
                while (of.axis(axis) != a) ++axis;
                return Face{static_cast<int>(axis), upper != of.backwards(axis)};
            };
            list.join(number(at), face(to, true), number(next), face(parts[z(number(next))].to_zone(), false),
                      {there.axes[0], there.axes[1], there.axes[2]});
        }
    });
    return list;
}

/// Patches and joins that a plan of so many zones looks at.
std::int64_t looked_at(const Int3& zones) {
    Graph graph("many");
    const Zones& family = graph.add<Zones>(block_of_zones(zones, 4));
    const auto u = graph.field<double>("u", family, On::cells, {.history = 1});
    Task first = graph.start().task("first", family), next = graph.step().task("next", family);
    first.make(u), first.run([](Here&) {});
    next.need(u.previous(), ghosts(2)), next.make(u), next.run([](Here&) {});
    Simulation run(graph, Members::alone());
    return family.looked_at();
}

}  // namespace

TEST_CASE("what a plan of many zones looks at grows as their number, not faster") {
    const std::int64_t few = looked_at({4, 4, 4}), many = looked_at({8, 8, 8});
    // Zones at the surface, 56 of 64 and 296 of 512, have fewer neighbours.
    CHECK(many < 8 * few * 3 / 2);
    CHECK(few < 64 * 8 * 1000);
}

TEST_CASE("what a plan of 1,690 zones costs", "[.][measure]") {
    for (const Int3& zones : {Int3{13, 13, 1}, Int3{13, 13, 10}}) {
        const auto begin = std::chrono::steady_clock::now();
        const std::int64_t looked = looked_at(zones);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        std::printf("%d zones, %d patches: looked at %lld patches and joins, %.3f s\n",
                    zones[0] * zones[1] * zones[2], 8 * zones[0] * zones[1] * zones[2],
                    static_cast<long long>(looked), took.count());
    }
}
