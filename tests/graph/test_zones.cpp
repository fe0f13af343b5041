// Zones: several grids in one family, joined at faces with turned axes; and patches that are narrower than
// their ghosts. What they compute is compared, bit for bit, with loops over one array.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/resolve/resolved.hpp"
#include "tests/catch.hpp"
#include "tests/graph/grids.hpp"
#include "tests/graph/solvers/stencils.hpp"

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

/// Equal bits: also of NaN, which equals nothing.
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

std::vector<double> run_alone(Stencil& of, int steps, int threads = 1, std::uint64_t seed = 0) {
    Simulation run(of.graph, Members::alone(), {.threads = threads, .shuffle = {.seed = seed}});
    run.start();
    run.advance(steps);
    return of.values(run);
}

Axes any_axes(std::mt19937_64& random) {
    std::array<int, 3> axes{1, 2, 3};
    std::shuffle(axes.begin(), axes.end(), random);
    Axes signs;
    for (std::size_t a = 0; a < 3; ++a)
        signs[a] = static_cast<std::int8_t>(pick(random, 0, 1) == 0 ? axes[a] : -axes[a]);
    return signs;
}

/// A domain in parts of any size, each turned anyhow and in patches of any size.
std::vector<ZonePart> any_parts(std::mt19937_64& random, const Box& domain, int count) {
    std::vector<ZonePart> parts;
    for (const Box& cells : cut(random, domain, count)) {
        ZonePart part{cells, any_axes(random), {}, {}};
        for (std::size_t a = 0; a < 3; ++a) {
            part.first[a] = pick(random, -9, 9);
            part.patch_cells[a] = pick(random, 1, 5);
        }
        parts.push_back(part);
    }
    return parts;
}

Domain any_domain(std::mt19937_64& random) {
    Domain domain;
    for (std::size_t a = 0; a < 3; ++a) {
        domain.cells.lo[a] = pick(random, -3, 3);
        domain.cells.hi[a] = domain.cells.lo[a] + pick(random, 1, 7);
        domain.periodic[a] = pick(random, 0, 2) == 0;
    }
    return domain;
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

TEST_CASE("three blocks with turned axes have the bits of one block, whatever their patches") {
    const Domain domain{{{0, 0, 0}, {12, 10, 5}}, {}};
    const std::vector<double> expected = Stencil::reference(domain, {2, 2, 1}, 20);
    Stencil one(domain, Int3{4, 5, 5}, Int3{2, 2, 1});
    CHECK(same_bits(run_alone(one, 20), expected));
    for (const int threads : {1, 2, 3}) {
        const auto three = three_blocks();
        CHECK(same_bits(run_alone(*three, 20, threads, static_cast<std::uint64_t>(threads - 1)), expected));
    }
}

TEST_CASE("any division of a domain into turned zones has the bits of the whole") {
    std::mt19937_64 random(2);
    for (int round = 0; round < 60; ++round) {
        const Domain domain = any_domain(random);
        const std::vector<ZonePart> parts = any_parts(random, domain.cells, pick(random, 1, 6));
        const Int3 reach = any_width(random, round % 4 == 0 ? 4 : 2);
        Stencil zones(domain, parts, reach);
        INFO("round " << round);
        CHECK(same_bits(run_alone(zones, 3, 1 + round % 3, static_cast<std::uint64_t>(round)),
                        Stencil::reference(domain, reach, 3)));
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

TEST_CASE("a zone that is joined with itself has the bits of a periodic grid") {
    for (const std::array<bool, 3> periodic :
         {std::array{true, false, false}, std::array{false, true, true}, std::array{true, true, true}}) {
        const Domain domain{{{0, 0, 0}, {7, 6, 2}}, periodic};
        Stencil grid(domain, Int3{3, 2, 2}, Int3{2, 3, 1});
        Stencil zone(domain, std::vector<ZonePart>{{domain.cells, kSameAxes, {}, {3, 2, 2}}}, Int3{2, 3, 1});
        const std::vector<double> expected = run_alone(grid, 10);
        CHECK(same_bits(run_alone(zone, 10, 2), expected));
        CHECK(same_bits(Stencil::reference(domain, {2, 3, 1}, 10), expected));
    }
}

TEST_CASE("patches narrower than their ghosts: values from beyond the neighbour, and a patch's own images") {
    const auto narrow = narrow_patches();
    const std::vector<double> expected =
        Stencil::reference({{{0, 0, 0}, {2, 9, 4}}, {true, false, true}}, {3, 3, 3}, 12);
    for (const int threads : {1, 2, 3})
        CHECK(same_bits(run_alone(*narrow, 12, threads, static_cast<std::uint64_t>(threads)), expected));
    std::mt19937_64 random(4);
    for (int round = 0; round < 60; ++round) {
        const Domain domain = any_domain(random);
        const Int3 reach = any_width(random, 5), patch = plus(any_width(random, 3), {1, 1, 1});
        Stencil grid(domain, patch, reach);
        INFO("round " << round);
        CHECK(same_bits(run_alone(grid, 3, 1 + round % 3, static_cast<std::uint64_t>(round)),
                        Stencil::reference(domain, reach, 3)));
    }
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

TEST_CASE("contributions reach beyond the next patch, and around a ring more than once") {
    for (const bool periodic : {false, true}) {
        Graph graph("sums");
        const Grid& line = graph.grid("line", {.cells = {{0, 0, 0}, {5, 1, 1}},
                                               .patch_cells = {2, 1, 1},
                                               .periodic = {periodic, false, false}});
        const auto total = graph.field<double>("total", line, On::cells);
        const auto kept = graph.field<double>("kept", line, On::cells, {.history = 1});
        {
            Task task = graph.start().task("first", line);
            const auto k = task.make(kept);
            task.run([=](Here& here) { here[k](here.cells().lo[0]) = 0; });
        }
        {
            Task task = graph.step().task("give", line);
            const auto t = task.sum(total, Sides({3, 0, 0}, {6, 0, 0}));
            task.run([=](Here& here) {
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i)
                    for (int to = i - 3; to <= i + 6; ++to)
                        if (here[t].box().contains(Int3{to, 0, 0})) here[t](to) += std::pow(10, i);
            });
        }
        Task task = graph.step().task("keep", line);
        const auto t = task.need(total);
        const auto k = task.make(kept);
        task.run([=](Here& here) {
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) here[k](i) = here[t](i);
        });
        std::vector<double> expected(5, 0);
        for (int i = 0; i < 5; ++i)
            for (int to = i - 3; to <= i + 6; ++to)
                if (periodic || (to >= 0 && to < 5)) expected[z((to + 10) % 5)] += std::pow(10, i);
        Simulation run(graph, Members::alone(), {.threads = 2});
        run.start();
        run.advance(3);
        std::vector<double> found;
        for (int patch = 0; patch < 3; ++patch)
            for (const double value : values_of<double>(run, kept.id(), patch)) found.push_back(value);
        CHECK(found == expected);
    }
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
