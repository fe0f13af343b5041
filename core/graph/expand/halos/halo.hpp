// Layouts of a field on one process, and the sources of its halos. Pure functions of a grid and of the owners
// of its patches; memory.hpp has the memory.
//
// The patches of a process are merged into boxes. Each box is one allocation with a halo around it. So
// patches of one box read each other's values in place, and only the outer halo is copied: of 8 x 8 patches
// in one box, 28 at its edge read copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/declare/relation.hpp"

namespace strata::graph {

/// Patches divided into parts: boxes that whole patches fill. The same for all fields of a grid.
struct Division {
    struct Part {
        Box cells;
        std::uint32_t first = 0, last = 0;  // its patches: Division::patches[first] .. [last - 1]
    };
    struct PatchPosition {
        std::uint32_t part = 0;
        std::uint32_t at = 0;  // in Division::patches
    };

    const Grid* grid = nullptr;
    std::vector<Part> parts;   // by their lowest patch
    std::vector<int> patches;  // by part, ascending within each

    [[nodiscard]] std::span<const int> of(const Part& part) const {
        return {patches.data() + part.first, patches.data() + part.last};
    }
    /// The zone of a part: parts do not reach into several.
    [[nodiscard]] int zone_of(const Part& part) const { return grid->zone_of(patches[part.first]); }
    /// The place of a patch, which must be one of the divided. O(log of the number of patches).
    [[nodiscard]] PatchPosition find(int patch) const;

    std::vector<std::uint32_t> by_number;  // for find(): places in `patches`, by ascending patch
};

/// Merges patches into boxes, as few as a greedy search finds: neighbours along one axis, then along the
/// others, for all orders of the axes, until nothing can be merged. A patch that fits nowhere is a part of
/// its own. O(n log n) in the patches given, for any size of the grid. Throws Error where a patch is named
/// twice or is none of the grid's.
[[nodiscard]] Division divide(const Grid& grid, std::span<const int> patches);

/// One allocation of a field: the values that the patches of a part own, and its halo.
struct FieldBlock {
    Box owned, stored;
    /// In values: from a value to the next along y and along z (along x it is 1), and the number before the
    /// one at stored.lo, so that the first owned value of a row can be aligned.
    std::int64_t row = 0, plane = 0, first = 0;
    /// Of one component; a multiple of 64 and none of 4096, so that components may follow each other without
    /// meeting in the same sets of a cache. The allocation begins at a multiple of 64.
    std::int64_t bytes = 0;

    /// The number of the value at these indices, within a component.
    [[nodiscard]] std::int64_t offset(const Int3& at) const {
        return first + (at[0] - stored.lo[0]) + row * (at[1] - stored.lo[1]) + plane * (at[2] - stored.lo[2]);
    }
};

/// The memory of a field on one process: a block for each part. Refers to its division, as that does to its
/// grid: they stay where they are as long as it is used.
struct FieldLayout {
    const Division* division = nullptr;
    On on = On::cells;
    Int3 border{};  // layers beyond the domain that patches there own
    Int3 halo{};    // layers that are stored around each block
    std::vector<FieldBlock> blocks;

    /// The values that a patch of the zone reads with ghosts of this width: its own ones, grown, as far as
    /// the domain and its border reach. (Layers beyond them are stored too, without values.)
    [[nodiscard]] Box grown(int zone, const Box& owned, const Int3& width) const {
        return common(owned.grown(width), division->grid->extent_in(zone, on, border));
    }
};

/// `ghosts`: the widest that any task asks for. They are stored on all sides, but for directions that are not
/// there (one cell, not periodic). `bytes`: of one value of one component. Rows are padded so that the first
/// cell of each lies at a multiple of 64 bytes where that costs less than 15 %. Rows and planes of large
/// blocks lie at such distances (up to 6 % more) that a tile of 32 x 32 values with its ghosts spreads
/// over the sets of a first-level cache; never at multiples of 4096 bytes, which would put neighbours in one
/// set.
[[nodiscard]] FieldLayout lay_out(const Division& division, On on, const Int3& border, const Int3& ghosts,
                                  std::size_t bytes);

/// All pieces that ghosts of one width need: each value of a halo that some patch of the block reads, and
/// that has an owner, is in one of them. A piece comes from a patch of this process or another, or by way of
/// a periodic border or a joined face perhaps from the block itself.
struct Fills {
    Int3 width{};
    std::vector<SourceBox> all;           // by block, in each by source patch and shift
    std::vector<std::uint32_t> of_block;  // block b: all[of_block[b]] .. [of_block[b + 1] - 1]
    std::vector<std::uint32_t> of_patch;  // patch at place i: which[of_patch[i]] .. [of_patch[i + 1] - 1]
    std::vector<std::uint32_t> which;     // numbers in `all` of the fills that it reads from, ascending

    [[nodiscard]] std::span<const SourceBox> block(std::size_t b) const {
        return {all.data() + of_block[b], all.data() + of_block[b + 1]};
    }
    [[nodiscard]] std::span<const std::uint32_t> patch(std::size_t at) const {
        return {which.data() + of_patch[at], which.data() + of_patch[at + 1]};
    }
};
/// Throws Error where the width is more than the layout's halo. Time proportional to the patches of the
/// process that read from a halo and to the values that they read (and to the parts).
[[nodiscard]] Fills find_fills(const FieldLayout& layout, const Int3& width);

/// The patches of the same block from which one reads in place with ghosts of this width, ascending, without
/// itself. `met` is scratch whose memory is used again.
void read_in_place(const FieldLayout& layout, int patch, const Division::PatchPosition& position,
                   const Int3& width, std::vector<Grid::Meeting>& met, std::vector<int>& from);

}  // namespace strata::graph
