// Zones with turned axes, and patches that are narrower than their ghosts: what they compute is compared, bit
// for bit, with loops over one array.
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tests/catch.hpp"
#include "tests/graph/solvers/any_zones.hpp"

using namespace strata::graph;
using namespace strata::tests;

namespace {

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

}  // namespace

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

TEST_CASE("changes in place with frozen ghosts see what lay beyond a join before the task began") {
    // Two zones of a ring, the second turned: each cell becomes the one before it on the ring.
    Graph graph("ring");
    ZoneList list("ring");
    list.zone({{0, 0, 0}, {6, 2, 1}}, {2, 2, 1});
    list.zone({{0, 0, 0}, {2, 5, 1}}, {2, 2, 1});
    list.join(0, {0, true}, 1, {1, true}, {-2, 1, 3});
    list.join(1, {1, false}, 0, {0, false}, {2, -1, 3});
    const Zones& ring = graph.add<Zones>(std::move(list));
    const auto u = graph.field<double>("u", ring, On::cells);
    const auto place = [&ring](int patch, const Int3& at) {
        return ring.zone_of(patch) == 0 ? at[0] : 10 - at[1];
    };
    {
        Task task = graph.start().task("first", ring);
        const auto now = task.make(u);
        task.run([=](Here& here) {
            each_index(here.cells(),
                       [&](const Int3& at) { here[now](at[0], at[1]) = place(here.patch, at); });
        });
    }
    Task task = graph.step().task("turn", ring);
    const auto now = task.modify(u, ghosts(1));
    task.run([=, &ring](Here& here) {
        const Int3 back = ring.zone_of(here.patch) == 0 ? Int3{-1, 0, 0} : Int3{0, 1, 0};
        std::vector<double> next;
        each_index(here.cells(), [&](const Int3& at) {
            const Int3 before = plus(at, back);
            next.push_back(here[now](before[0], before[1]));
        });
        std::size_t i = 0;
        each_index(here.cells(), [&](const Int3& at) { here[now](at[0], at[1]) = next[i++]; });
    });
    for (const std::uint64_t seed : {0, 1, 2}) {
        Simulation run(graph, Members::alone(), {.threads = 3, .shuffle = {.seed = seed}});
        run.start();
        run.advance(25);
        bool right = true;
        for (int patch = 0; patch < ring.patches(); ++patch) {
            const std::vector<double> values = values_of<double>(run, u.id(), patch);
            std::size_t i = 0;
            each_index(ring.box(patch), [&](const Int3& at) {
                right = right && values.at(i++) == (place(patch, at) + 11 * 3 - 25) % 11;
            });
        }
        CHECK(right);
    }
}
