// Ghosts on some sides of a patch alone (Upwind), or without those beyond edges and corners: what is copied
// and waited for.
#pragma once

#include <span>
#include <vector>

#include "core/graph/declare/task.hpp"
#include "core/graph/expand/halos/halo.hpp"

namespace strata::graph {

/// The boxes around what a patch owns of a label from which a use reads ghosts.
[[nodiscard]] SideBoxes ghosts_of(const Use& use, const Grid& grid, int patch, On on, const Int3& border);
/// Whether one of the boxes meets another.
[[nodiscard]] bool meets(const SideBoxes& boxes, const Box& other);

/// The patches of the same block from which one reads in place through a use that lacks some ghosts, as
/// read_in_place() has them for ghosts all around.
void read_on_sides(const FieldLayout& layout, int patch, const Division::PatchPosition& position,
                   const Use& use, std::vector<Grid::Meeting>& met, std::vector<int>& from);

/// A use that reads a halo in place.
struct HaloReader {
    const TaskInfo* task = nullptr;
    const Use* use = nullptr;
};
/// Leaves out the pieces that no patch reads. Each piece that is left has a reader, for which the next writer
/// of the values waits: it would not wait for the copy of a piece without readers.
void keep_read(Fills& fills, const FieldLayout& layout, std::span<const HaloReader> readers);

}  // namespace strata::graph
