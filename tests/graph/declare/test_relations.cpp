#include "core/graph/declare/relation.hpp"

#include <map>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/grids.hpp"

using namespace strata::graph;
using namespace strata::tests;

namespace {

/// Every index of the window that has an owner in the source is in one piece, from that owner, and no other.
bool complete(const Overlap& relation, const Grid& source, int to, On on) {
    std::map<Int3, int> seen;
    bool right = true;
    const Box window = relation.window(to, on);
    for (const Piece& piece : relation.pieces(to, on))
        each_index(piece.box, [&](const Int3& at) {
            const Int3 there = plus(at, piece.shift);
            const Owner owner = owner_of(source, there, on, {});
            right = right && window.contains(there) && owner.patch == piece.from && owner.at == at;
            ++seen[there];
        });
    each_index(window, [&](const Int3& at) {
        const int times = owner_of(source, at, on, {}).patch >= 0 ? 1 : 0;
        right = right && (times == 0 ? !seen.contains(at) : seen[at] == times);
    });
    return right;
}

}  // namespace

TEST_CASE("a transpose takes each value from the one pencil that has it") {
    const GridShape shape{.cells = {{0, 0, 0}, {8, 6, 5}}};
    const auto pencils = [&](std::size_t along, int wide) {
        GridShape each = shape;
        each.patch_cells = {wide, wide, wide};
        each.patch_cells[along] = 100;
        return each;
    };
    const Grid x("x", pencils(0, 2)), y("y", pencils(1, 3));
    const Overlap transpose("x to y", x, y);
    for (int to = 0; to < y.patches(); ++to) {
        CHECK(transpose.window(to, On::cells) == y.box(to));
        CHECK(complete(transpose, x, to, On::cells));
    }
    CHECK(transpose.shape() == Shape::window);
}

TEST_CASE("between levels a window spans the cells below or above a patch, and the nodes around its own") {
    const Grid coarse("coarse", {.cells = {{-2, 0, 0}, {8, 8, 1}}, .patch_cells = {5, 4, 1}});
    const Grid fine("fine", {.cells = {{-6, 0, 0}, {24, 24, 3}}, .patch_cells = {3, 3, 3}},
                    {Box{{-5, 2, 0}, {4, 9, 3}}, Box{{4, 2, 0}, {11, 9, 3}}});
    const Overlap up("to fine", coarse, fine, Overlap::Level::source_coarser, 3, {1, 1, 0});
    CHECK(up.window(0, On::cells) == Box{{-3, -1, 0}, {3, 4, 1}});
    // Nodes -5 .. 3 lie between -2 and 1, nodes 2 .. 8 between 0 and 3; nodes 0 .. 3 of z (the border is one
    // of the patch's own) are 0 and 1.
    CHECK(up.window(0, On::nodes) == Box{{-3, -1, 0}, {3, 5, 2}});
    CHECK(up.window(0, On::faces_y) == Box{{-3, -1, 0}, {3, 5, 1}});
    const Overlap down("to coarse", fine, coarse, Overlap::Level::source_finer, 3);
    CHECK(down.window(0, On::cells) == Box{{-6, 0, 0}, {9, 12, 3}});
    CHECK(down.window(0, On::nodes) == Box{{-6, 0, 0}, {7, 10, 4}});
    CHECK(down.window(0, On::faces_x) == Box{{-6, 0, 0}, {7, 12, 3}});
    for (const On on : kAllOn) {
        CHECK(complete(up, coarse, 1, on));
        for (int to = 0; to < coarse.patches(); ++to) CHECK(complete(down, fine, to, on));
    }
}

TEST_CASE("windows of any grids on each other are complete") {
    std::mt19937_64 random(21);
    for (int round = 0; round < 300; ++round) {
        const auto source = any_grid(random), target = any_grid(random);
        const auto level = static_cast<Overlap::Level>(round % 3);
        const Overlap relation("r", *source, *target, level, round % 3 == 0 ? 1 : pick(random, 1, 3),
                               any_width(random, 2));
        CHECK(complete(relation, *source, pick(random, 0, target->patches() - 1), kAllOn[round % 5]));
    }
}

TEST_CASE("a gathered list comes in runs from its sources, and another table takes its place") {
    const Family zones("zones", 3), bodies("bodies", 2);
    Gather donors("donors", zones, bodies, {{{2, 7}, {2, 5}, {0, 1}, {2, 6}}, {}});
    CHECK(donors.shape() == Shape::list);
    CHECK(donors.length(0) == 4);
    CHECK(donors.length(1) == 0);
    CHECK(donors.pieces(1, On::cells).empty());
    const std::vector<Piece> pieces = donors.pieces(0, On::cells);
    REQUIRE(pieces.size() == 3);
    CHECK(pieces[0].from == 2);
    CHECK(pieces[0].entries == std::vector<std::int32_t>{7, 5});
    CHECK(pieces[0].at == 0);
    CHECK(pieces[1].from == 0);
    CHECK(pieces[1].at == 2);
    CHECK(pieces[2].entries == std::vector<std::int32_t>{6});
    CHECK(pieces[2].at == 3);
    const auto before = donors.version();
    donors.replace({{}, {{1, 0}}});
    CHECK(donors.version() == before + 1);
    CHECK(donors.length(1) == 1);
    CHECK_THROWS_AS(donors.replace({{}, {{3, 0}}}), strata::Error);
    CHECK(donors.version() == before + 1);
    CHECK(donors.length(1) == 1);
}

TEST_CASE("relations that cannot be are refused") {
    const Grid grid("g", {.cells = {{0, 0, 0}, {4, 4, 4}}, .patch_cells = {2, 2, 2}});
    const Family two("two", 2);
    CHECK_THROWS_AS(Overlap("r", grid, grid, Overlap::Level::same, 2), strata::Error);
    CHECK_THROWS_AS(Overlap("r", grid, grid, Overlap::Level::source_finer, 0), strata::Error);
    CHECK_THROWS_AS(Overlap("r", grid, grid, Overlap::Level::same, 1, {0, -1, 0}), strata::Error);
    CHECK_THROWS_AS(Gather("r", two, two, {{}}), strata::Error);
    CHECK_THROWS_AS(Gather("r", two, two, {{}, {{0, -1}}}), strata::Error);
    CHECK_THROWS_AS(Gather("r", two, two, {{}, {}}).window(0, On::cells), strata::Error);
    try {
        (void)Gather("r", two, two, {{}, {{0, 1}, {2, 0}}});
        FAIL("there is no patch 2");
    } catch (const strata::Error& error) {
        CHECK(error.text().find("value 1 of patch 1 comes from nowhere") != std::string::npos);
        CHECK(error.text().find("patch 2, entry 0") != std::string::npos);
        CHECK(error.text().find("patches 0 to 1") != std::string::npos);
    }
}
