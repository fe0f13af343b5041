// Order within a task, and frozen ghosts: against loops over the whole grid, on any layout; and what cannot
// be.
#include <cstring>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/declare/levels.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/declared.hpp"
#include "tests/graph/lines.hpp"
#include "tests/graph/simulation/sweeps.hpp"
#include "tests/team/run.hpp"

using namespace strata::graph;
using namespace strata::graph::testing;
using namespace strata::team::testing;

namespace {

/// Compares all kept values with those of the loops.
void check(const Sweeps& sweeps, const Simulation& run, int steps) {
    const auto expected = sweeps.plainly(steps);
    std::size_t fields = 0;
    for (const Kept& kept : kept_versions(run.plan())) {
        const auto found = expected.find(sweeps.graph.labels()[kept.label].name);
        if (found == expected.end() || kept.back != 0) continue;
        ++fields;
        const auto& mine = run.plan().memory().patches().at(0);
        for (std::size_t p = 0; p < mine.size(); ++p) {
            const std::vector<std::byte> bytes = run.values(kept, static_cast<int>(p));
            std::size_t at = 0;
            for_each(sweeps.grid.box(mine[p]), [&](int i, int j, int k) {
                double value = 0;
                std::memcpy(&value, bytes.data() + at, sizeof value);
                at += sizeof value;
                if (value == found->second(i, j, k)) return;
                CAPTURE(found->first, mine[p], i, j, k);
                REQUIRE(value == found->second(i, j, k));
            });
        }
    }
    CHECK(fields == 4);
}

std::string output_of(const std::string& layout_name, std::vector<std::string> words) {
    const Done done =
        Run(std::move(words), layout(layout_name, layout_name.size() == 3 && layout_name <= "2x1")).wait();
    INFO(layout_name << ": " << done.err);
    REQUIRE(done.status == 0);
    REQUIRE(has(done.out, "patch 0 "));
    return sorted_lines(done.out);
}

}  // namespace

TEST_CASE("sweeps over patches are what one loop over all cells gives, bit for bit") {
    GridShape one = kOpen, columns = kOpen, narrow = kOpen;
    one.patch_cells = {14, 12, 9};
    columns.patch_cells = {2, 3, 9};
    narrow.patch_cells = {1, 1, 3};  // narrower than the two layers that one task needs
    for (const GridShape& shape : {kOpen, one, columns, narrow})
        for (const int threads : {1, 2, 3}) {
            CAPTURE(shape.patch_cells[0], threads);
            Sweeps sweeps(shape);
            Simulation run(sweeps.graph, Members::alone(), {.threads = threads});
            run.start();
            run.advance(4);
            check(sweeps, run, 4);
            run.advance(3);
            check(sweeps, run, 7);
        }
    Sweeps boxes(kOpen, pinwheel());
    Simulation run(boxes.graph, Members::alone(), {.threads = 2});
    run.start();
    run.advance(5);
    check(boxes, run, 5);
}

TEST_CASE("nor do a random order and delays change sweeps") {
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        Sweeps sweeps(kOpen, seed % 2 == 0 ? pinwheel() : std::vector<Box>{});
        Simulation run(sweeps.graph, Members::alone(), {.threads = 3, .shuffle = {.seed = seed}});
        run.start();
        run.advance(10);
        check(sweeps, run, 10);
    }
}

TEST_CASE("sweeps have the same bits on every layout, wherever patches go", "[native]") {
    for (const std::string name : {"sweeps", "sweeps-boxes"}) {
        const std::string expected = output_of("1x1", {name, "30"});
        for (const std::string layout : {"2x1", "1x2", "3x2"}) {
            CAPTURE(name, layout);
            CHECK(output_of(layout, {name, "30"}) == expected);
        }
        CHECK(output_of("2x1", {name, "30", "seed=1", "move=4"}) == expected);
        CHECK(output_of("3x2", {name, "30", "seed=2", "move=3"}) == expected);
    }
}

namespace {

/// What examples/implicit prints: its error, and every digit of it and of the last residual.
struct Solved {
    double error = 0;
    std::string text, residual;
};
Solved implicit(const std::string& layout_name, std::vector<std::string> words) {
    const bool fits = layout_name != "3x2";
    const Done done = Run(std::move(words), layout(layout_name, fits), TEST_IMPLICIT).wait();
    INFO(layout_name << ": " << done.out << done.err);
    REQUIRE(done.status == 0);
    Solved solved;
    solved.text = done.out.substr(0, done.out.find("seconds"));
    solved.residual = solved.text.substr(solved.text.find("residual"));
    solved.error = std::stod(solved.text.substr(6));
    return solved;
}

}  // namespace

TEST_CASE("implicit transport is of second order in the spacing, whose square the step follows", "[native]") {
    for (const std::string method : {"gauss-seidel", "lines"}) {
        const double coarse = implicit("1x1", {method, "12", "4", "9", "0.05"}).error,
                     fine = implicit("1x1", {method, "24", "8", "36", "0.05"}).error;
        CAPTURE(method, coarse, fine);
        CHECK(std::log2(coarse / fine) > 1.9);
        CHECK(std::log2(coarse / fine) < 2.1);
    }
}

TEST_CASE("implicit transport has the same bits on every layout, and with any patches", "[native]") {
    for (const std::string method : {"gauss-seidel", "lines"}) {
        const Solved alone = implicit("1x1", {method, "16", "4", "4", "0.02"});
        CAPTURE(method);
        for (const std::string layout : {"1x2", "2x1", "3x2"})
            CHECK(implicit(layout, {method, "16", "4", "4", "0.02"}).text == alone.text);
        for (const std::string patch : {"16", "5"})
            CHECK(implicit("1x2", {method, "16", patch, "4", "0.02"}).residual == alone.residual);
    }
}

TEST_CASE("patches have the levels of the longest ways to them") {
    const auto levels = [](const Grid& grid, const Int3& towards) {
        const PatchLevels all(grid, upwind(towards));
        std::vector<int> found;
        for (int p = 0; p < grid.patches(); ++p) found.push_back(all.of(p));
        return found;
    };
    const GridShape shape{.cells = {{0, 0, 0}, {6, 4, 1}}, .patch_cells = {2, 2, 1}};
    const Grid regular("grid", shape);
    CHECK(levels(regular, {1, 1, 0}) == std::vector{0, 1, 2, 1, 2, 3});
    CHECK(levels(regular, {-1, 0, 0}) == std::vector{2, 1, 0, 2, 1, 0});
    std::vector<Box> boxes;
    for (int p = 0; p < regular.patches(); ++p) boxes.push_back(regular.box(p));
    for (const Int3& towards : {Int3{1, 1, 0}, Int3{-1, 0, 0}, Int3{1, -1, 1}})
        CHECK(levels(Grid("boxes", shape, boxes), towards) == levels(regular, towards));
}

namespace {

struct Solver : Declared {
    Field<double> u = field("u"), w = field("w");
    explicit Solver(const GridShape& shape = {.cells = {{0, 0, 0}, {16, 16, 16}}, .patch_cells = {8, 8, 8}})
        : Declared(shape) {
        Task first = start("first");
        first.make(u), first.make(w);
    }
};

}  // namespace

TEST_CASE("circles of patches are refused with the names of tasks and labels") {
    SECTION("both ways along an axis") {
        Solver s;
        Task both = s.step("both");
        both.modify(s.u, upwind(0, 1)), both.modify(s.w, upwind({-1, 1, 0}));
        CHECK(says(s.refused(), {"task 'both' goes up and down along x", "'u' of the patches below",
                                 "'w' of those above", "two tasks"}));
    }
    SECTION("different axes are one order") {
        Solver s;
        Task both = s.step("both");
        both.modify(s.u, upwind(0, 1)), both.modify(s.w, upwind(1, -1));
        CHECK(s.refused() == "nothing");
    }
    SECTION("a periodic axis") {
        Solver s(
            {.cells = {{0, 0, 0}, {16, 16, 1}}, .patch_cells = {8, 8, 1}, .periodic = {false, true, false}});
        s.step("round").modify(s.u, upwind({1, 1, 0}));
        CHECK(says(s.refused(), {"task 'round'", "'u' upwind along y", "'grid' is periodic along y"}));
    }
    SECTION("two tasks that need each other's") {
        Solver s;
        Task one = s.step("one"), two = s.step("two");
        one.modify(s.u, upwind(0, 1)), one.need(s.w.at(1));
        two.modify(s.w, upwind(0, 1)), two.need(s.u.at(1));
        CHECK(says(s.refused(), {"tasks wait for each other", "task 'one'", "task 'two'", "'u'", "'w'"}));
    }
    SECTION("boxes of which each lies before the next along another axis") {
        // Three sticks around a corner: each lies below the next one, along x, along y, along z.
        const GridShape shape{.cells = {{0, 0, 0}, {2, 2, 2}}, .patch_cells = {1, 1, 1}};
        const std::vector<Box> knot{{{0, 0, 1}, {1, 2, 2}},
                                    {{1, 0, 0}, {2, 1, 2}},
                                    {{0, 1, 0}, {2, 2, 1}},
                                    {{0, 0, 0}, {1, 1, 1}},
                                    {{1, 1, 1}, {2, 2, 2}}};
        Graph graph("solver");
        const Grid& grid = graph.add<Grid>("knot", shape, knot);
        const auto u = graph.field<double>("u", grid, On::cells);
        Task first = graph.start().task("first", grid), sweep = graph.step().task("sweep", grid);
        first.make(u), first.run([](Here&) {});
        sweep.modify(u, upwind({1, 1, 1})), sweep.run([](Here&) {});
        std::string text = "nothing";
        try {
            (void)resolve(graph);
        } catch (const strata::Error& error) {
            text = error.text();
        }
        CHECK(says(text, {"task 'sweep' goes over patches of 'knot'", "in a circle: 0, 2, 1", "try:"}));
        CHECK(PatchLevels(grid, upwind({1, -1, 1})).circle().empty());
    }
}

TEST_CASE("what is needed upwind is what the task makes") {
    Solver s;
    SECTION("made by another task") {
        s.step("other").modify(s.u);
        s.step("sweep").need(s.u.at(1), upwind(0, 1));
        CHECK(says(s.refused(), {"task 'sweep' needs 'u' upwind, which it does not make", "ghosts"}));
    }
    SECTION("the version before") {
        Task sweep = s.step("sweep");
        sweep.modify(s.u), sweep.need(s.u, upwind(0, 1));
        CHECK(
            says(s.refused(), {"task 'sweep' needs version 0 of 'u' upwind, and makes version 1", "at(1)"}));
    }
    SECTION("a sign or a width that cannot be") {
        s.step("sweep").modify(s.u, upwind(1, 2));
        CHECK(says(s.refused(), {"task 'sweep'", "'u' upwind along y", "given: 2"}));
    }
    SECTION("no layer") {
        s.step("sweep").modify(s.u, upwind(2, -1, 0));
        CHECK(says(s.refused(), {"task 'sweep'", "'u' upwind without a layer"}));
    }
    SECTION("frozen and upwind") {
        s.step("red").modify(s.u, ghosts(1));
        s.step("sweep").modify(s.u.at(1), upwind(2, -1));
        CHECK(says(s.refused(), {"'u' has frozen ghosts in task 'red'", "upwind in task 'sweep'"}));
    }
    SECTION("frozen ghosts of one's own") {
        Task red = s.step("red");
        red.modify(s.u, ghosts(1)), red.need(s.u);
        CHECK(says(s.refused(), {"task 'red' needs version 0 of 'u' and modifies it in place"}));
    }
}
