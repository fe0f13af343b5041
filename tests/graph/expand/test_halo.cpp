#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/expand/halos/halo.hpp"
#include "core/graph/expand/halos/sweep.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/grids.hpp"

using namespace strata::graph;
using namespace strata::tests;

namespace {

constexpr double kNothing = -1;  // what memory holds before anything is written

/// A number for each value of a grid: who owns it, and which one it is.
double number_of(int patch, const Int3& at) {
    return patch + 1000.0 * ((at[0] + 50) + 200.0 * ((at[1] + 50) + 200.0 * (at[2] + 50)));
}

/// The field as a process has it: its own values written, its halos filled for one width.
struct Memory {
    const FieldLayout& layout;
    std::vector<std::vector<double>> blocks;
    std::vector<std::string> wrong;

    explicit Memory(const FieldLayout& layout_) : layout(layout_) {
        for (const FieldBlock& block : layout.blocks)
            blocks.emplace_back(static_cast<std::size_t>(block.bytes) / sizeof(double), kNothing);
    }
    double& value(std::size_t b, const Int3& at) {
        return blocks[b].at(static_cast<std::size_t>(layout.blocks[b].offset(at)));
    }
    /// Writes where nothing was; all else is wrong.
    void write(std::size_t b, const Int3& at, double number, const char* what) {
        if (!layout.blocks[b].stored.contains(at))
            wrong.emplace_back(std::string(what) + " outside the memory");
        else if (value(b, at) != kNothing)
            wrong.emplace_back(std::string(what) + " twice");
        else
            value(b, at) = number;
    }
};

void own_values(Memory& memory) {
    const Division& division = *memory.layout.division;
    for (std::size_t b = 0; b < division.parts.size(); ++b)
        for (const int patch : division.of(division.parts[b]))
            each_index(division.grid->owned(patch, memory.layout.on, memory.layout.border),
                       [&](const Int3& at) { memory.write(b, at, number_of(patch, at), "owned"); });
}

void filled(Memory& memory, const Fills& fills) {
    const FieldLayout& layout = memory.layout;
    const Grid& grid = *layout.division->grid;
    for (std::size_t b = 0; b < layout.blocks.size(); ++b)
        for (const SourceBox& fill : fills.block(b)) {
            if (fill.box.empty() || !grid.owned(fill.from, layout.on, layout.border).contains(fill.box))
                memory.wrong.emplace_back("a fill of what its source has not");
            each_index(fill.box, [&](const Int3& at) {
                memory.write(b, plus(at, fill.shift), number_of(fill.from, at), "filled");
            });
        }
}

/// Looks at each value of each patch's grown box, and takes note of those that somebody reads.
void check_read(Memory& memory, const Fills& fills, std::vector<std::set<Int3>>& read) {
    const FieldLayout& layout = memory.layout;
    const Division& division = *layout.division;
    const Grid& grid = *division.grid;
    std::vector<Grid::Meeting> met;
    std::vector<int> beside;
    for (std::size_t position = 0; position < division.patches.size(); ++position) {
        const int patch = division.patches[position];
        const Division::PatchPosition found = division.find(patch);
        const std::size_t b = found.part;
        if (found.at != position) memory.wrong.emplace_back("a patch is not where it is said to be");
        const Box grown = grid.owned(patch, layout.on, layout.border).grown(fills.width);
        std::set<int> near;
        each_index(grown, [&](const Int3& at) {
            const Owner owner = owner_of(grid, at, layout.on, layout.border);
            const double number = owner.patch < 0 ? kNothing : number_of(owner.patch, owner.at);
            const FieldBlock& block = layout.blocks[b];
            if (owner.patch < 0 && !block.stored.contains(at)) return;  // directions that are not there
            if (!block.stored.contains(at) || memory.value(b, at) != number)
                memory.wrong.emplace_back("a patch reads what is not there");
            if (owner.patch >= 0) read[b].insert(at);
            if (block.owned.contains(at) && owner.patch != patch && owner.patch >= 0)
                near.insert(owner.patch);
        });
        read_in_place(layout, patch, found, fills.width, met, beside);
        if (beside != std::vector<int>(near.begin(), near.end()))
            memory.wrong.emplace_back("other neighbours in place");
        std::vector<std::uint32_t> touched;
        for (std::uint32_t f = fills.of_block[b]; f < fills.of_block[b + 1]; ++f)
            if (!common(fills.all[f].into(), grown).empty()) touched.push_back(f);
        const auto told = fills.patch(position);
        if (!std::equal(told.begin(), told.end(), touched.begin(), touched.end()))
            memory.wrong.emplace_back("other fills");
    }
}

/// All that a layout and its fills promise, for one process.
std::vector<std::string> wrong_with(const FieldLayout& layout, const Int3& width) {
    Memory memory(layout);
    const Fills fills = find_fills(layout, width);
    own_values(memory);
    filled(memory, fills);
    std::vector<std::set<Int3>> read(layout.blocks.size());
    check_read(memory, fills, read);
    // What nobody reads has not been filled, and padding has not been touched.
    for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
        const auto written = std::count_if(memory.blocks[b].begin(), memory.blocks[b].end(),
                                           [](double value) { return value != kNothing; });
        if (static_cast<std::size_t>(written) != read[b].size())
            memory.wrong.emplace_back("more is filled than is read");
        if (layout.blocks[b].bytes % 64 != 0 || layout.blocks[b].bytes % 4096 == 0)
            memory.wrong.emplace_back("the block's length");
    }
    return memory.wrong;
}

/// The patches of one process among a few: scattered, or a chunk of the curve.
std::vector<int> any_share(std::mt19937_64& random, const Grid& grid) {
    std::vector<int> share;
    if (pick(random, 0, 1) == 0) {
        for (int p = 0; p < grid.patches(); ++p)
            if (pick(random, 0, 3) > 0) share.push_back(p);
    } else {
        const std::vector<int> order = grid.order();
        const int from = pick(random, 0, grid.patches() - 1);
        share.assign(order.begin() + from, order.begin() + pick(random, from + 1, grid.patches()));
    }
    return share;
}

std::vector<int> all_of(const Grid& grid) { return grid.Family::order(); }

}  // namespace

TEST_CASE("every value that a patch reads is its block's own, or filled once, or nobody's") {
    std::mt19937_64 random(41);
    for (int round = 0; round < 700; ++round) {
        const auto grid = any_grid(random);
        const Division division = divide(*grid, any_share(random, *grid));
        const Int3 ghosts = any_width(random, round % 10 == 0 ? 6 : 2);
        const FieldLayout layout =
            lay_out(division, kAllOn[round % 5], any_width(random, round % 3 == 0 ? 2 : 0), ghosts, 8);
        INFO("round " << round);
        CHECK(wrong_with(layout, ghosts) == std::vector<std::string>{});
        Int3 narrow = ghosts;
        for (int& width : narrow) width = pick(random, 0, width);
        CHECK(wrong_with(layout, narrow) == std::vector<std::string>{});
    }
}

TEST_CASE(
    "without corners a patch gets all that lies beyond its faces, and of its neighbours only those there") {
    std::mt19937_64 random(43);
    std::vector<Grid::Meeting> met;
    std::vector<int> beside;
    std::size_t left_out = 0;
    for (int round = 0; round < 500; ++round) {
        const auto grid = any_grid(random);
        const Division division = divide(*grid, any_share(random, *grid));
        const Int3 width = any_width(random, 2);
        const FieldLayout layout = lay_out(division, kAllOn[round % 5], {}, width, 8);
        TaskInfo task;
        Use use;
        use.width = width, use.faces_alone = true;
        const Fills all = find_fills(layout, width);
        Fills fills = all;
        const HaloReader reader{&task, &use};
        keep_read(fills, layout, {&reader, 1});
        left_out += all.all.size() - fills.all.size();
        INFO("round " << round);
        std::set<std::uint32_t> read;
        for (const int patch : division.patches) {
            const Division::PatchPosition position = division.find(patch);
            const Box& in_block = layout.blocks[position.part].owned;
            std::set<int> near;
            for (const Box& seen : ghosts_of(use, *grid, patch, layout.on, {}))
                each_index(seen, [&](const Int3& at) {
                    const Owner owner = owner_of(*grid, at, layout.on, {});
                    if (owner.patch < 0) return;
                    if (in_block.contains(at)) {
                        if (owner.patch != patch) near.insert(owner.patch);
                        return;
                    }
                    const auto from = [&](std::uint32_t f) {
                        return fills.all[f].from == owner.patch && fills.all[f].into().contains(at);
                    };
                    const auto told = fills.patch(position.at);
                    CHECK(std::count_if(told.begin(), told.end(), from) == 1);
                    read.insert(*std::find_if(told.begin(), told.end(), from));
                });
            read_on_sides(layout, patch, position, use, met, beside);
            CHECK(beside == std::vector<int>(near.begin(), near.end()));
        }
        CHECK(read.size() == fills.all.size());
    }
    CHECK(left_out > 1000);
}

TEST_CASE("blocks of many patches are filled as those of few are") {
    for (const bool periodic : {false, true}) {
        const Grid grid("g", {.cells = {{0, 0, 0}, {13, 12, 10}},
                              .patch_cells = {2, 3, 2},
                              .periodic = {periodic, true, false}});
        const Division all = divide(grid, all_of(grid));
        REQUIRE(all.parts.size() == 1);
        CHECK(wrong_with(lay_out(all, On::nodes, {0, 0, 1}, {3, 1, 2}, 8), {3, 1, 2}) ==
              std::vector<std::string>{});
        std::vector<int> some;
        for (int p = 0; p < grid.patches(); ++p)
            if (grid.box(p).lo[0] < 8) some.push_back(p);
        const Division most = divide(grid, some);
        REQUIRE(most.parts.size() == 1);
        CHECK(wrong_with(lay_out(most, On::cells, {}, {2, 2, 2}, 8), {2, 1, 2}) ==
              std::vector<std::string>{});
    }
    std::mt19937_64 random(42);
    for (int round = 0; round < 5; ++round) {
        GridShape shape{.cells = {{0, 0, 0}, {12, 12, 9}}, .periodic = {true, false, true}};
        std::vector<Box> boxes = cut(random, {{0, 0, 0}, {8, 12, 9}}, 100);
        const std::vector<Box> beyond = cut(random, {{8, 0, 0}, {12, 12, 9}}, 5);
        boxes.insert(boxes.end(), beyond.begin(), beyond.end());
        const Grid grid("g", shape, boxes);
        std::vector<int> low;
        for (int p = 0; p < grid.patches(); ++p)
            if (grid.box(p).lo[0] < 8) low.push_back(p);
        const Division division = divide(grid, low);
        REQUIRE(division.parts.size() == 1);
        CHECK(wrong_with(lay_out(division, On::cells, {}, {2, 2, 2}, 8), {2, 1, 2}) ==
              std::vector<std::string>{});
    }
}

TEST_CASE("patches are merged into boxes that they fill, each patch into one") {
    std::mt19937_64 random(43);
    for (int round = 0; round < 300; ++round) {
        const auto grid = any_grid(random);
        std::vector<int> share = any_share(random, *grid);
        std::shuffle(share.begin(), share.end(), random);
        const Division division = divide(*grid, share);
        std::vector<int> seen;
        for (const Division::Part& part : division.parts) {
            std::int64_t cells = 0;
            bool inside = true;
            for (const int patch : division.of(part)) {
                cells += grid->box(patch).volume();
                inside = inside && part.cells.contains(grid->box(patch));
                seen.push_back(patch);
            }
            CHECK(inside);
            CHECK(cells == part.cells.volume());
            CHECK(std::is_sorted(division.of(part).begin(), division.of(part).end()));
        }
        std::sort(seen.begin(), seen.end());
        std::sort(share.begin(), share.end());
        CHECK(seen == share);
    }
}

TEST_CASE("what can be one block is one, and a chunk of the curve is few") {
    const Grid grid("g", {.cells = {{0, 0, 0}, {64, 64, 64}}, .patch_cells = {8, 8, 8}});
    CHECK(divide(grid, all_of(grid)).parts.size() == 1);
    CHECK(divide(grid, {}).parts.empty());
    // An L is two boxes; a cross of three bars through a cube is five at best, whatever axis comes first.
    const auto where = [&](auto&& has) {
        std::vector<int> share;
        for (int p = 0; p < grid.patches(); ++p) {
            const Int3 at{grid.box(p).lo[0] / 8, grid.box(p).lo[1] / 8, grid.box(p).lo[2] / 8};
            if (has(at)) share.push_back(p);
        }
        return divide(grid, share).parts.size();
    };
    CHECK(where([](const Int3& at) { return at[0] < 2 || at[1] < 3; }) == 2);
    CHECK(where([](const Int3& at) { return at[2] < 2 || at[0] < 3; }) == 2);
    CHECK(where([](const Int3& at) { return (at[0] + at[1] + at[2]) % 2 == 0; }) == 256);
    CHECK(where([](const Int3& at) { return (at[0] == 3) + (at[1] == 3) + (at[2] == 3) >= 2; }) == 5);
    // Eighths of the curve are cubes; thirds are not.
    const std::vector<int> order = grid.order();
    for (std::size_t part = 0; part < 8; ++part)
        CHECK(divide(grid, std::span(order).subspan(part * 64, 64)).parts.size() == 1);
    for (std::size_t part = 0; part < 3; ++part)
        CHECK(divide(grid, std::span(order).subspan(part * 170, 170)).parts.size() <= 12);
    CHECK_THROWS_AS(divide(grid, std::vector<int>{3, 4, 3}), strata::Error);
    CHECK_THROWS_AS(divide(grid, std::vector<int>{3, 512}), strata::Error);
}

TEST_CASE("rows are aligned where that is cheap, and strides never a multiple of a page") {
    const auto block = [](int cells, int ghosts, std::size_t bytes) {
        const Grid grid("g", {.cells = {{0, 0, 0}, {cells, 64, 4}}, .patch_cells = {cells, 64, 4}});
        const Division division = divide(grid, std::vector<int>{0});
        return lay_out(division, On::cells, {}, {ghosts, ghosts, ghosts}, bytes).blocks[0];
    };
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4}, std::size_t{8}, std::size_t{24}})
        for (const int cells : {2, 6, 8, 30, 32, 62, 64, 126, 256, 510, 512, 1023, 4096})
            for (const int ghosts : {0, 1, 2}) {
                const FieldBlock b = block(cells, ghosts, bytes);
                const auto size = static_cast<std::int64_t>(bytes);
                CHECK(b.row * size % 4096 != 0);
                CHECK(b.plane * size % 4096 != 0);
                CHECK(b.row >= b.stored.extent(0));
                CHECK(b.plane >= b.row * b.stored.extent(1));
                CHECK(b.bytes >= (b.offset({cells + ghosts - 1, 63 + ghosts, 3 + ghosts}) + 1) * size);
                const std::int64_t width = b.stored.extent(0) * size, padded = (width + 63) / 64 * 64;
                if (64 % size == 0 && static_cast<double>(padded) < 1.15 * static_cast<double>(width))
                    for (int z = 0; z < 4; ++z)
                        for (int y = 0; y < 64; ++y) CHECK(b.offset({0, y, z}) * size % 64 == 0);
                else
                    CHECK(static_cast<double>(b.row * size) <= static_cast<double>(width + size));
            }
    // No layers along directions that are not there.
    const Grid flat("g", {.cells = {{0, 0, 0}, {8, 8, 1}}, .patch_cells = {4, 4, 1}});
    const Division division = divide(flat, std::vector<int>{0});
    const FieldLayout layout = lay_out(division, On::cells, {}, {2, 2, 2}, 8);
    CHECK(layout.halo == Int3{2, 2, 0});
    CHECK_NOTHROW(find_fills(layout, {2, 2, 2}));
    CHECK_THROWS_AS(find_fills(layout, {3, 2, 2}), strata::Error);
}
