// Patches into boxes, and boxes into memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/base/error.hpp"
#include "core/graph/expand/halos/halo.hpp"

namespace strata::graph {
namespace {

constexpr std::int64_t kLine = 64, kPage = 4096;

struct Item {
    Box box;
    std::uint32_t id;  // of one of the patches in it
};

/// Boxes that are merged step by step. `into` tells the item that each one was merged into: so each patch
/// finds its box in the end.
struct Merging {
    std::vector<Item> items;
    std::vector<std::uint32_t> into;

    std::uint32_t root(std::uint32_t id) {
        while (into[id] != id) id = into[id] = into[into[id]];
        return id;
    }

    /// Joins all that lie side by side along the axis; whether there were any.
    bool join(std::size_t a) {
        const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
        const auto before = [&](const Item& l, const Item& r) {
            if (l.box.lo[c] != r.box.lo[c]) return l.box.lo[c] < r.box.lo[c];
            if (l.box.lo[b] != r.box.lo[b]) return l.box.lo[b] < r.box.lo[b];
            return l.box.lo[a] < r.box.lo[a];
        };
        if (!std::is_sorted(items.begin(), items.end(), before))
            std::sort(items.begin(), items.end(), before);
        // They do not overlap, so an item that continues another comes right after it.
        std::size_t last = 0;
        for (std::size_t i = 1; i < items.size(); ++i) {
            Box& one = items[last].box;
            const Box& next = items[i].box;
            if (one.hi[a] == next.lo[a] && one.lo[b] == next.lo[b] && one.hi[b] == next.hi[b] &&
                one.lo[c] == next.lo[c] && one.hi[c] == next.hi[c]) {
                one.hi[a] = next.hi[a];
                into[items[i].id] = items[last].id;
            } else {
                items[++last] = items[i];
            }
        }
        const bool any = last + 1 < items.size();
        items.resize(last + 1);
        return any;
    }

    [[nodiscard]] double surface() const {
        double all = 0;
        for (const Item& item : items)
            for (int a = 0; a < 3; ++a)
                all += static_cast<double>(item.box.extent(a)) * item.box.extent((a + 1) % 3);
        return all;
    }
};

/// Patches of one zone.
Merging merge_zone(const Grid& grid, std::span<const int> patches) {
    Merging start;
    start.items.resize(patches.size());
    start.into.resize(patches.size());
    std::iota(start.into.begin(), start.into.end(), 0U);
    Box all;
    std::int64_t cells = 0;
    for (std::size_t i = 0; i < patches.size(); ++i) {
        start.items[i] = {grid.box(patches[i]), static_cast<std::uint32_t>(i)};
        all = around(all, start.items[i].box);
        cells += start.items[i].box.volume();
    }
    if (cells == all.volume()) {  // the usual case
        start.items.resize(1);
        start.items[0].box = all;
        std::fill(start.into.begin(), start.into.end(), start.items[0].id);
        return start;
    }
    Merging best = start;
    for (std::size_t first = 0; first < 3; ++first) {
        Merging once = start;
        once.join(first);
        for (const std::size_t turn : {1, 2}) {
            Merging tried = once;
            for (std::size_t axis = (first + turn) % 3, still = 1; still < 3; axis = (axis + turn) % 3)
                still = tried.join(axis) ? 0 : still + 1;
            if (tried.items.size() < best.items.size() ||
                (tried.items.size() == best.items.size() && tried.surface() < best.surface()))
                best = std::move(tried);
        }
    }
    return best;
}

/// Ascending patches, which are zone by zone then.
Merging merge(const Grid& grid, std::span<const int> patches) {
    if (grid.zone_of(patches.front()) == grid.zone_of(patches.back())) return merge_zone(grid, patches);
    Merging all;
    for (std::size_t first = 0, end = 0; first < patches.size(); first = end) {
        while (end < patches.size() && grid.zone_of(patches[end]) == grid.zone_of(patches[first])) ++end;
        const Merging zone = merge_zone(grid, patches.subspan(first, end - first));
        const auto before = static_cast<std::uint32_t>(first);
        for (const Item& item : zone.items) all.items.push_back({item.box, item.id + before});
        for (const std::uint32_t into : zone.into) all.into.push_back(into + before);
    }
    return all;
}

std::int64_t up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

/// A first-level cache finds a line by its address within a page: 64 sets. The number of lines of what a
/// kernel needs at a time fall into the fullest one, at distances in lines: three planes of 32 x 32 cells of
/// 8 bytes with what is around, and five of a column of 64 x 4 or 32 x 8 (three, and two that are asked for
/// ahead); their sum.
int fullest_sets(std::int64_t row, std::int64_t plane) {
    struct Tile {
        int wide, rows, planes;
    };
    constexpr int sets = kPage / kLine;
    int sum = 0;
    for (const auto& [wide, rows, planes] : {Tile{6, 34, 3}, Tile{10, 6, 5}, Tile{6, 10, 5}}) {
        std::array<int, sets> lines{};
        for (int k = 0; k < planes; ++k)
            for (int j = 0; j < rows; ++j)
                for (int i = 0; i < wide; ++i)
                    ++lines[static_cast<std::size_t>((i + j * row + k * plane) % sets)];
        sum += *std::max_element(lines.begin(), lines.end());
    }
    return sum;
}

/// Lines to add to a row or plane, `most` at most, so that tiles are spread over the sets as evenly as that
/// allows: as few as are nearly best.
template <class Fullest>
std::int64_t lines_to_add(std::int64_t most, Fullest fullest) {
    most = std::max<std::int64_t>(0, most);
    int best = fullest(0);
    for (std::int64_t add = 1; add <= most; ++add) best = std::min(best, fullest(add));
    for (std::int64_t add = 0;; ++add)
        if (fullest(add) <= best + 1) return add;
}

}  // namespace

Division divide(const Grid& grid, std::span<const int> patches) {
    Division division;
    division.grid = &grid;
    std::vector<int> sorted(patches.begin(), patches.end());
    if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
    if (sorted.empty()) return division;
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end() || sorted.front() < 0 || sorted.back() >= grid.patches())
        throw Error(fmt::format("these cannot be patches of one process of grid '{}'", grid.name()))
            .given(twice != sorted.end() ? fmt::format("patch {} twice", *twice)
                                         : fmt::format("{} to {}", sorted.front(), sorted.back()))
            .allowed(fmt::format("each of 0 to {} once", grid.patches() - 1));

    Merging merged = merge(grid, sorted);
    constexpr auto kNone = static_cast<std::uint32_t>(-1);
    std::vector<std::uint32_t> part_of(sorted.size(), kNone);  // of a root
    std::vector<std::uint32_t> part(sorted.size());
    for (std::uint32_t i = 0; i < sorted.size(); ++i) {
        const std::uint32_t root = merged.root(i);
        if (part_of[root] == kNone) {
            part_of[root] = static_cast<std::uint32_t>(division.parts.size());
            division.parts.emplace_back();
        }
        part[i] = part_of[root];
        ++division.parts[part[i]].last;
    }
    for (const Item& item : merged.items) division.parts[part_of[merged.root(item.id)]].cells = item.box;
    std::uint32_t first = 0;
    for (Division::Part& one : division.parts) {
        const std::uint32_t count = one.last;
        one.first = one.last = first;
        first += count;
    }
    division.patches.resize(sorted.size());
    division.by_number.resize(sorted.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const std::uint32_t position = division.parts[part[i]].last++;
        division.patches[position] = sorted[i];
        division.by_number[i] = position;
    }
    return division;
}

Division::PatchPosition Division::find(int patch) const {
    const auto number =
        std::lower_bound(by_number.begin(), by_number.end(), patch,
                         [&](std::uint32_t position, int wanted) { return patches[position] < wanted; });
    const auto after = std::upper_bound(parts.begin(), parts.end(), *number,
                                        [](std::uint32_t at, const Part& part) { return at < part.first; });
    return {static_cast<std::uint32_t>(after - parts.begin() - 1), *number};
}

FieldLayout lay_out(const Division& division, On on, const Int3& border, const Int3& ghosts,
                    std::size_t bytes) {
    const Grid& grid = *division.grid;
    FieldLayout layout{&division, on, border, ghosts, {}};
    for (std::size_t a = 0; a < 3; ++a)
        if (grid.is_flat(static_cast<int>(a))) layout.halo[a] = 0;
    const auto size = static_cast<std::int64_t>(bytes);
    layout.blocks.reserve(division.parts.size());
    for (const Division::Part& part : division.parts) {
        FieldBlock block;
        block.owned = grid.owned_in(division.zone_of(part), part.cells, on, border);
        block.stored = block.owned.grown(layout.halo);
        block.row = block.stored.extent(0);
        // The unit that strides are made of: a cache line where rows are aligned, else a value.
        std::int64_t unit = 1;
        if (kLine % size == 0) {
            const std::int64_t line = kLine / size, padded = up(block.row, line);
            if (static_cast<double>(padded) < 1.15 * static_cast<double>(block.row)) {
                unit = line;
                block.row = padded;
                // The first cell of a row begins a line; before it are halo and border.
                const std::int64_t before = part.cells.lo[0] - block.stored.lo[0];
                block.first = up(before, line) - before;
            }
        }
        const bool spread = unit * size == kLine && block.row * block.stored.extent(1) * size > 8 * kPage;
        if (spread) {
            const std::int64_t row = block.row / unit, most = row / 16;
            block.row +=
                unit * lines_to_add(most, [&](std::int64_t add) { return fullest_sets(row + add, 21); });
        }
        if (block.row * size % kPage == 0) block.row += unit;
        block.plane = block.row * block.stored.extent(1);
        if (spread) {
            const std::int64_t row = block.row / unit, plane = block.plane / unit;
            block.plane += unit * lines_to_add(kPage / kLine - 1, [&](std::int64_t add) {
                               return fullest_sets(row, plane + add);
                           });
        }
        if (block.plane * size % kPage == 0) block.plane += unit;
        const Int3 last{block.stored.hi[0] - 1, block.stored.hi[1] - 1, block.stored.hi[2] - 1};
        block.bytes = up((block.offset(last) + 1) * size, kLine);
        if (block.bytes % kPage == 0) block.bytes += kLine;
        layout.blocks.push_back(block);
    }
    return layout;
}

}  // namespace strata::graph
