#include "core/graph/expand/halos/halo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.hpp"

namespace strata::graph {
namespace {

/// The part of `outer` around `inner`, which lies within it: at most six boxes.
std::array<Box, 6> shell(const Box& outer, const Box& inner) {
    std::array<Box, 6> boxes;
    Box left = outer;
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t a = 2 - i;
        boxes[2 * i] = boxes[2 * i + 1] = left;
        boxes[2 * i].hi[a] = left.lo[a] = inner.lo[a];
        boxes[2 * i + 1].lo[a] = left.hi[a] = inner.hi[a];
    }
    return boxes;
}

SourceBox piece_of(const Grid::Meeting& met) {
    const IndexMap map{met.shift, met.axes};
    return {met.patch, map.inverse()(met.box), met.shift, met.axes};
}

bool earlier(const SourceBox& a, const SourceBox& b) {
    if (a.from != b.from) return a.from < b.from;
    if (a.axes != b.axes) return a.axes < b.axes;
    return a.shift != b.shift ? a.shift < b.shift : a.box.lo < b.box.lo;
}

/// Asking for all that a block and its halo meet gives a source its one fill, but also all patches inside.
/// From so many patches on only the halo is asked for; sources of an irregular grid that reach around an edge
/// are met twice then.
constexpr std::uint32_t kAskAround = 64;

void fills_of(const FieldLayout& layout, std::size_t b, Fills& fills, std::vector<Grid::Meeting>& met) {
    const Grid& grid = *layout.division->grid;
    const Division::Part& part = layout.division->parts[b];
    const Box& owned = layout.blocks[b].owned;
    const int zone = layout.division->zone_of(part);
    const Box outer = layout.grown(zone, owned, fills.width);
    const auto begin = static_cast<std::ptrdiff_t>(fills.all.size());
    if (part.last - part.first < kAskAround) {
        grid.find_owners_in(zone, outer, layout.on, layout.border, met);
        for (const Grid::Meeting& m : met)
            if (common(m.box, owned).empty()) fills.all.push_back(piece_of(m));
    } else {
        for (const Box& side : shell(outer, owned)) {
            grid.find_owners_in(zone, side, layout.on, layout.border, met);
            for (const Grid::Meeting& m : met) fills.all.push_back(piece_of(m));
        }
        std::sort(fills.all.begin() + begin, fills.all.end(), earlier);
    }
}

struct Reads {
    std::uint32_t position, fill;
};

/// Which patches of a block read from which of its fills: those near enough to where it goes.
void readers_of(const FieldLayout& layout, std::size_t b, const Fills& fills, std::vector<Reads>& reads,
                std::vector<Grid::Meeting>& met) {
    const Division& division = *layout.division;
    const Division::Part& part = division.parts[b];
    const int zone = division.zone_of(part);
    for (std::uint32_t f = fills.of_block[b]; f < fills.of_block[b + 1]; ++f) {
        if (part.last - part.first == 1) {
            reads.push_back({part.first, f});
            continue;
        }
        const Box near = common(fills.all[f].into().grown(fills.width), layout.blocks[b].owned);
        division.grid->find_owners_in(zone, near, layout.on, layout.border, met);
        auto from = division.patches.begin() + part.first;
        const auto end = division.patches.begin() + part.last;
        for (const Grid::Meeting& m : met) {  // ascending, as the part's patches are
            from = std::lower_bound(from, end, m.patch);
            reads.push_back({static_cast<std::uint32_t>(from - division.patches.begin()), f});
        }
    }
}

}  // namespace

Fills find_fills(const FieldLayout& layout, const Int3& width) {
    for (std::size_t a = 0; a < 3; ++a) {
        const bool there = !layout.division->grid->is_flat(static_cast<int>(a));
        if (width[a] < 0 || (there && width[a] > layout.halo[a]))
            throw Error(
                fmt::format("ghosts along {} are wider than the halo that grid '{}' was laid out with",
                            "xyz"[a], layout.division->grid->name()))
                .given(fmt::format("{}", width[a]))
                .allowed(fmt::format("0 to {}", layout.halo[a]));
    }
    Fills fills;
    fills.width = width;
    std::vector<Grid::Meeting> met;
    fills.of_block.reserve(layout.blocks.size() + 1);
    fills.of_block.push_back(0);
    for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
        fills_of(layout, b, fills, met);
        fills.of_block.push_back(static_cast<std::uint32_t>(fills.all.size()));
    }
    std::vector<Reads> reads;
    for (std::size_t b = 0; b < layout.blocks.size(); ++b) readers_of(layout, b, fills, reads, met);
    fills.of_patch.assign(layout.division->patches.size() + 1, 0);
    for (const Reads& read : reads) ++fills.of_patch[read.position + 1];
    for (std::size_t i = 1; i < fills.of_patch.size(); ++i) fills.of_patch[i] += fills.of_patch[i - 1];
    fills.which.resize(reads.size());
    std::vector<std::uint32_t> next(fills.of_patch.begin(), fills.of_patch.end() - 1);
    for (const Reads& read : reads) fills.which[next[read.position]++] = read.fill;
    return fills;
}

void read_in_place(const FieldLayout& layout, int patch, const Division::PatchPosition& position,
                   const Int3& width, std::vector<Grid::Meeting>& met, std::vector<int>& from) {
    const Grid& grid = *layout.division->grid;
    const Box near =
        common(grid.owned(patch, layout.on, layout.border).grown(width), layout.blocks[position.part].owned);
    grid.find_owners_in(grid.zone_of(patch), near, layout.on, layout.border, met);
    from.clear();
    for (const Grid::Meeting& m : met)
        if (m.patch != patch) from.push_back(m.patch);
}

}  // namespace strata::graph
