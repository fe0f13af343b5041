#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/grids.hpp"

using namespace strata::graph;
using namespace strata::tests;

namespace {

std::string refusal(const GridShape& shape) {
    try {
        const Grid grid("zone", shape);
    } catch (const strata::Error& error) {
        return error.text();
    }
    return "";
}

}  // namespace

TEST_CASE("patches of a regular grid are numbered x fastest and the last ones are smaller") {
    const Grid grid("g", {.cells = {{-1, 0, 2}, {9, 8, 3}}, .patch_cells = {4, 4, 4}});
    REQUIRE(grid.patches() == 6);
    CHECK(grid.counts() == Int3{3, 2, 1});
    CHECK(grid.box(0) == Box{{-1, 0, 2}, {3, 4, 3}});
    CHECK(grid.box(2) == Box{{7, 0, 2}, {9, 4, 3}});
    CHECK(grid.box(3) == Box{{-1, 4, 2}, {3, 8, 3}});
    std::int64_t cells = 0;
    for (int p = 0; p < grid.patches(); ++p) cells += grid.box(p).volume();
    CHECK(cells == grid.shape().cells.volume());
}

TEST_CASE("a patch owns its lower sides, and the upper ones at a border that is not periodic") {
    const Grid grid(
        "g", {.cells = {{0, 0, 0}, {8, 8, 8}}, .patch_cells = {4, 4, 8}, .periodic = {false, true, false}});
    CHECK(grid.owned(0, On::nodes) == Box{{0, 0, 0}, {4, 4, 9}});
    CHECK(grid.owned(1, On::nodes) == Box{{4, 0, 0}, {9, 4, 9}});
    CHECK(grid.owned(3, On::faces_x) == Box{{4, 4, 0}, {9, 8, 8}});
    CHECK(grid.owned(3, On::faces_y) == Box{{4, 4, 0}, {8, 8, 8}});
    CHECK(grid.owned(0, On::cells, {2, 2, 1}) == Box{{-2, 0, -1}, {4, 4, 9}});
    CHECK(grid.owned(1, On::faces_z, {2, 2, 1}) == Box{{4, 0, -1}, {10, 4, 10}});
    CHECK(grid.at_border(0, 0, 0));
    CHECK_FALSE(grid.at_border(0, 0, 1));
    CHECK(grid.at_border(1, 0, 1));
    CHECK_FALSE(grid.at_border(0, 1, 0));
    CHECK(grid.at_border(2, 2, 1));
}

TEST_CASE("a grid that cannot be is refused with what was given and what is allowed") {
    const GridShape good{.cells = {{0, 0, 0}, {4, 4, 1}}, .patch_cells = {2, 2, 1}};
    CHECK(refusal(good).empty());
    GridShape shape = good;
    shape.cells.hi[1] = 0;
    CHECK(refusal(shape).find("grid 'zone' has no cells along y") != std::string::npos);
    shape = good;
    shape.patch_cells[2] = 0;
    CHECK(refusal(shape).find("patch_cells = 0") != std::string::npos);
    shape = good;
    shape.spacing[0] = -1;
    CHECK(refusal(shape).find("spacing along x") != std::string::npos);
    shape.spacing[0] = -NAN;
    CHECK(refusal(shape).find("given: nan\n") != std::string::npos);
    shape = {.cells = {{0, 0, 0}, {4096, 4096, 4096}}, .patch_cells = {1, 1, 1}};
    CHECK(refusal(shape).find("too many patches") != std::string::npos);
    shape = {.cells = {{0, 0, 0}, {2000000000, 1, 1}}, .patch_cells = {1000000000, 1, 1}};
    CHECK(refusal(shape).find("too large along x") != std::string::npos);

    const Box low{{0, 0, 0}, {2, 4, 1}}, high{{2, 0, 0}, {4, 4, 1}};
    CHECK_NOTHROW(Grid("zone", good, {low, high}));
    CHECK_THROWS_AS(Grid("zone", good, std::vector<Box>{}), strata::Error);
    CHECK_THROWS_AS(Grid("zone", good, {low, high.shifted({1, 0, 0})}), strata::Error);
    CHECK_THROWS_AS(Grid("zone", good, {low, Box{{2, 0, 0}, {2, 4, 1}}}), strata::Error);
    try {
        const Grid grid("zone", good, {high, low, Box{{1, 3, 0}, {2, 4, 1}}});
        FAIL("patches overlap");
    } catch (const strata::Error& error) {
        CHECK(error.text().find("patches 1 and 2 overlap") != std::string::npos);
    }
}

TEST_CASE("within any box each value has its one owner, periodic images and borders included") {
    std::mt19937_64 random(11);
    std::vector<Grid::Meeting> met;
    for (int round = 0; round < 1500; ++round) {
        const auto grid = any_grid(random);
        const On on = kAllOn[round % 5];
        const Int3 border = any_width(random, 2);
        Box box = round % 3 == 0 ? grid->shape().cells : grid->box(pick(random, 0, grid->patches() - 1));
        box = box.grown(any_width(random, round % 7 == 0 ? 12 : 3));
        grid->find_owners(box, on, border, met);
        REQUIRE(met == grid->owners(box, on, border));
        std::int64_t seen = 0, owned = 0;
        bool right = true;
        for (const Grid::Meeting& m : met) {
            right = right && !m.box.empty() && box.contains(m.box);
            seen += m.box.volume();
            each_index(m.box, [&](const Int3& at) {
                const Owner owner = owner_of(*grid, at, on, border);
                right = right && owner.patch == m.patch && plus(owner.at, m.shift) == at;
            });
        }
        CHECK(right);
        each_index(box, [&](const Int3& at) {
            if (owner_of(*grid, at, on, border).patch >= 0) ++owned;
        });
        // Each index that has an owner is met with it, and, since the numbers agree, only once.
        CHECK(seen == owned);
        CHECK(std::is_sorted(met.begin(), met.end(), [](const auto& a, const auto& b) {
            return a.patch != b.patch ? a.patch < b.patch : a.shift < b.shift;
        }));
    }
}

TEST_CASE("one patch in a periodic direction is its own neighbour on both sides, ghosts wider than it too") {
    const Grid grid(
        "g", {.cells = {{0, 0, 0}, {4, 1, 1}}, .patch_cells = {4, 1, 1}, .periodic = {true, false, false}});
    const auto met = grid.owners({{-5, 0, 0}, {9, 1, 1}}, On::cells);
    REQUIRE(met.size() == 5);
    CHECK(met[0] == Grid::Meeting{0, {-8, 0, 0}, {{-5, 0, 0}, {-4, 1, 1}}});
    CHECK(met[1] == Grid::Meeting{0, {-4, 0, 0}, {{-4, 0, 0}, {0, 1, 1}}});
    CHECK(met[4] == Grid::Meeting{0, {8, 0, 0}, {{8, 0, 0}, {9, 1, 1}}});
    CHECK(grid.neighbours(0).empty());
}

TEST_CASE("neighbours share a face, across periodic borders too") {
    std::mt19937_64 random(12);
    for (int round = 0; round < 300; ++round) {
        const auto grid = any_grid(random);
        const int patch = pick(random, 0, grid->patches() - 1);
        std::set<int> near;
        each_index(grid->box(patch), [&](const Int3& at) {
            for (std::size_t a = 0; a < 3; ++a)
                for (const int step : {-1, 1}) {
                    Int3 beside = at;
                    beside[a] += step;
                    near.insert(owner_of(*grid, beside, On::cells, {}).patch);
                }
        });
        near.erase(-1);
        near.erase(patch);
        CHECK(grid->neighbours(patch) == std::vector<int>(near.begin(), near.end()));
    }
}

TEST_CASE("the order is Morton's curve, for any numbers of patches") {
    const Grid square("g", {.cells = {{0, 0, 0}, {4, 4, 1}}, .patch_cells = {1, 1, 1}});
    CHECK(square.order() == std::vector<int>{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15});
    const Grid uneven("g", {.cells = {{0, 0, 0}, {3, 5, 2}}, .patch_cells = {1, 1, 1}});
    std::vector<int> all = uneven.order();
    CHECK(std::vector<int>(all.begin(), all.begin() + 8) == std::vector<int>{0, 1, 3, 4, 15, 16, 18, 19});
    std::sort(all.begin(), all.end());
    for (int p = 0; p < 30; ++p) CHECK(all[static_cast<std::size_t>(p)] == p);
    const Grid line("g", {.cells = {{0, 0, 0}, {10000000, 1, 1}}, .patch_cells = {3, 1, 1}});
    const std::vector<int> along = line.order();
    // 22 bits are needed and 21 there: pairs of patches share a place and keep their own order.
    CHECK(std::is_sorted(along.begin(), along.end()));
    CHECK(along.size() == 3333334);
    // The same boxes given one by one, in another order, lie along the same curve.
    std::vector<Box> boxes;
    for (int p = 15; p >= 0; --p) boxes.push_back(square.box(p));
    const Grid given("g", square.shape(), boxes);
    std::vector<int> reversed = square.order();
    for (int& p : reversed) p = 15 - p;
    CHECK(given.order() == reversed);
}
