// Ghosts that turn vectors: periodicity by rotation.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/expand/memory/copy.hpp"
#include "tests/catch.hpp"
#include "tests/graph/solvers/annulus.hpp"

using namespace strata::graph;
using namespace strata::tests;

namespace {

struct Difference {
    int bits = 0;  // values with other bits
    double most = 0, largest = 0;
};

/// After some steps, from the same cells of the whole annulus.
Difference difference(Annulus&& solver, int steps) {
    Simulation run(solver.graph, Members::alone(), {.threads = 2});
    run.start();
    run.advance(steps);
    const std::vector<Annulus::Cell> is = solver.values(run), expected = solver.reference(steps);
    Difference all;
    const auto compare = [&](double a, double b) {
        all.bits += std::bit_cast<std::uint64_t>(a) != std::bit_cast<std::uint64_t>(b) ? 1 : 0;
        all.most = std::max(all.most, std::abs(a - b));
        all.largest = std::max(all.largest, std::abs(b));
    };
    for (std::size_t i = 0; i < is.size(); ++i) {
        for (std::size_t c = 0; c < 3; ++c)
            compare(is[i].v[c], expected[i].v[c]), compare(is[i].w[c], expected[i].w[c]);
        compare(is[i].s, expected[i].s);
    }
    return all;
}

std::string refusal(const Rotation& turn) {
    ZoneList list("ring");
    list.zone({{0, 0, 0}, {4, 4, 1}}, {2, 2, 1});
    try {
        list.join(0, Face{1, true}, 0, Face{1, false}, {1, 2, 3}, turn);
    } catch (const strata::Error& error) {
        return error.text();
    }
    return "nothing";
}

}  // namespace

TEST_CASE("sectors of a quarter, each with x and y of its own, have the bits of the whole annulus") {
    for (const int across : {7, 3})  // with ghosts of 4 layers through two sectors
        for (const int steps : {1, 12}) {
            CAPTURE(across, steps);
            const Difference four = difference(Annulus(4, across, 4, 4), steps);
            CHECK(four.bits == 0);
            CHECK(four.largest > 1e-3);
        }
}

TEST_CASE("one sector of a quarter that is joined with itself has the bits of the whole annulus") {
    for (const int across : {7, 1}) {
        CAPTURE(across);
        CHECK(difference(Annulus(4, across, 1, 2), 12).bits == 0);
    }
}

TEST_CASE("sectors of 30 degrees are the whole annulus but for rounding") {
    for (const int zones : {12, 1}) {
        CAPTURE(zones);
        const Difference all = difference(Annulus(12, 3, zones, 4), 12);
        CHECK(all.bits > 0);
        CHECK(all.most < 1e-13);
        CHECK(all.largest > 1e-3);
    }
}

TEST_CASE("vectors that are not declared to turn, and scalars, come across a turned face as they are") {
    Graph graph("mixed");
    ZoneList list("sector");
    list.zone({{0, 0, 0}, {2, 3, 1}}, {2, 2, 1});
    list.join(0, Face{1, true}, 0, Face{1, false}, {1, 2, 3}, {{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}});
    const Zones& grid = graph.add<Zones>(std::move(list));
    const auto turning = graph.field<float>("turning", grid, On::cells, {.components = 3, .turns = true});
    const auto plain = graph.field<float>("plain", grid, On::cells, {.components = 3});
    // A vector between two scalars.
    const auto amid =
        graph.field<float>("amid", grid, On::cells, {.components = 5, .turns = true, .vector = 1});
    const auto value = [](int i, int j, int c) { return static_cast<float>(1 + i + 10 * j + 100 * c); };
    Task make = graph.step().task("make", grid);
    make.run([=, a = make.make(turning), b = make.make(plain), d = make.make(amid)](Here& here) {
        const Box box = here.cells();
        for (int j = box.lo[1]; j < box.hi[1]; ++j)
            for (int i = box.lo[0]; i < box.hi[0]; ++i)
                for (int c : {0, 1, 2}) {
                    here[a](i, j, 0, c) = here[b](i, j, 0, c) = here[d](i, j, 0, 1 + c) = value(i, j, c);
                    here[d](i, j, 0, 0) = -1, here[d](i, j, 0, 4) = -2;
                }
    });
    int wrong = 0;
    Task look = graph.step().task("look", grid);
    look.run([&, a = look.need(turning, ghosts(1)), b = look.need(plain, ghosts(1)),
              d = look.need(amid, ghosts(1))](Here& here) {
        const int beyond = here.cells().lo[1] == 0 ? -1 : 3;
        for (int i : {0, 1}) {
            for (int c : {0, 1, 2}) wrong += here[d](i, beyond, 0, 1 + c) != here[a](i, beyond, 0, c) ? 1 : 0;
            wrong += here[d](i, beyond, 0, 0) != -1 || here[d](i, beyond, 0, 4) != -2 ? 1 : 0;
        }
        for (int i : {0, 1}) {
            if (here.cells().lo[1] == 0) {  // below: the upper end, turned back
                const std::array<float, 3> seen{value(i, 2, 1), -value(i, 2, 0), value(i, 2, 2)};
                for (int c : {0, 1, 2})
                    wrong += here[a](i, -1, 0, c) != seen[z(c)] || here[b](i, -1, 0, c) != value(i, 2, c);
            } else {
                const std::array<float, 3> seen{-value(i, 0, 1), value(i, 0, 0), value(i, 0, 2)};
                for (int c : {0, 1, 2})
                    wrong += here[a](i, 3, 0, c) != seen[z(c)] || here[b](i, 3, 0, c) != value(i, 0, c);
            }
        }
    });
    Simulation run(graph, Members::alone());
    run.start();
    run.advance(2);
    CHECK(wrong == 0);
}

TEST_CASE("a quarter turn keeps zeros with a sign and infinities as they are") {
    std::array<double, 3> vector{-0.0, std::numeric_limits<double>::infinity(), 2};
    BoxCopy box;
    box.to = reinterpret_cast<std::byte*>(vector.data());
    box.to_strides = {8, 8, 8}, box.extent = {1, 1, 1}, box.components = 3, box.bytes = 8;
    turn_vectors(box, {{{0, 1, 0}, {1, 0, 0}, {0, 0, -1}}});
    CHECK(vector[0] == std::numeric_limits<double>::infinity());
    CHECK((vector[1] == 0 && std::signbit(vector[1])));
    CHECK(vector[2] == -2);
}

TEST_CASE("turns that are none, and labels that cannot turn, are refused") {
    CHECK(refusal({{{0.8, -0.6, 0}, {0.6, 0.8, 0}, {0, 0, 1}}}) == "nothing");
    const std::string text = refusal({{{0.8, -0.6, 0}, {0.6, 0.9, 0}, {0, 0, 1}}});
    CHECK(text.find("zone 0 cannot be joined with zone 0: the turn of vectors across the face is not "
                    "orthogonal") != std::string::npos);
    CHECK(text.find("rows of length 1 at right angles") != std::string::npos);
    CHECK(refusal({{{std::nan(""), 0, 0}, {0, 1, 0}, {0, 0, 1}}}) != "nothing");

    Annulus solver(4, 3, 1, 1);
    const auto declare = [&](const char* name, int components) {
        (void)solver.graph.field<double>(name, *solver.grid, On::cells,
                                         {.components = components, .turns = true});
    };
    CHECK_THROWS_AS(declare("plane", 2), strata::Error);
    CHECK_THROWS_AS((void)solver.graph.field<double>("late", *solver.grid, On::cells,
                                                     {.components = 3, .turns = true, .vector = 1}),
                    strata::Error);
    CHECK_THROWS_AS((void)solver.graph.field<std::int64_t>("counts", *solver.grid, On::cells,
                                                           {.components = 3, .turns = true}),
                    strata::Error);
    CHECK_THROWS_AS((void)solver.graph.particles("dust", *solver.grid), strata::Error);
    const Grid& other =
        solver.graph.grid("other", {.cells = {{0, 0, 0}, {5, 3, 1}}, .patch_cells = {5, 3, 1}});
    Task task = solver.graph.step().task("look", other);
    (void)task.need(solver.v, solver.graph.add<Overlap>("window", *solver.grid, other));
    task.run([](Here&) {});
    try {
        (void)resolve(solver.graph);
        FAIL("a window does not turn");
    } catch (const strata::Error& error) {
        CHECK(
            error.text().find("task 'look' uses the vectors 'v' in a window, across faces that turn them") !=
            std::string::npos);
    }
}
