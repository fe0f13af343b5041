#include "core/graph/expand/halos/sweep.hpp"

#include <algorithm>

namespace strata::graph {

SideBoxes ghosts_of(const Use& use, const Grid& grid, int patch, On on, const Int3& border) {
    const Box own = grid.owned(patch, on, border);
    if (use.is_sided()) {
        const SideBoxes sides = upwind_of(own, use.width, use.towards, use.corners);
        return use.in_zone ? common(sides, grid.whole(grid.zone_of(patch), on, border)) : sides;
    }
    if (use.faces_alone) return beyond_faces(own, use.width);
    SideBoxes all;
    all.all[all.count++] = own.grown(use.width);
    return all;
}

bool meets(const SideBoxes& boxes, const Box& other) {
    return std::any_of(boxes.begin(), boxes.end(),
                       [&](const Box& box) { return !common(box, other).empty(); });
}

void read_on_sides(const FieldLayout& layout, int patch, const Division::PatchPosition& position,
                   const Use& use, std::vector<Grid::Meeting>& met, std::vector<int>& from) {
    const Grid& grid = *layout.division->grid;
    from.clear();
    for (const Box& side : ghosts_of(use, grid, patch, layout.on, layout.border)) {
        const Box near = common(side, layout.blocks[position.part].owned);
        if (near.empty()) continue;
        grid.find_owners_in(grid.zone_of(patch), near, layout.on, layout.border, met);
        for (const Grid::Meeting& m : met)
            if (m.patch != patch) from.push_back(m.patch);
    }
    std::sort(from.begin(), from.end());
    from.erase(std::unique(from.begin(), from.end()), from.end());
}

void keep_read(Fills& fills, const FieldLayout& layout, std::span<const HaloReader> readers) {
    const Division& division = *layout.division;
    std::vector<char> is_read(fills.all.size(), 0);
    std::vector<std::uint32_t> which, of_patch{0};
    for (std::size_t at = 0; at < division.patches.size(); ++at) {
        const int patch = division.patches[at];
        for (const std::uint32_t fill : fills.patch(at)) {
            const Box into = fills.all[fill].into();
            if (std::none_of(readers.begin(), readers.end(), [&](const HaloReader& by) {
                    return by.task->runs_on(patch) &&
                           meets(ghosts_of(*by.use, *division.grid, patch, layout.on, layout.border), into);
                }))
                continue;
            is_read[fill] = 1;
            which.push_back(fill);
        }
        of_patch.push_back(static_cast<std::uint32_t>(which.size()));
    }
    std::vector<std::uint32_t> number(fills.all.size(), 0), of_block{0};
    std::vector<SourceBox> all;
    for (std::size_t b = 0; b + 1 < fills.of_block.size(); ++b) {
        for (std::uint32_t i = fills.of_block[b]; i < fills.of_block[b + 1]; ++i) {
            number[i] = static_cast<std::uint32_t>(all.size());
            if (is_read[i] != 0) all.push_back(fills.all[i]);
        }
        of_block.push_back(static_cast<std::uint32_t>(all.size()));
    }
    for (std::uint32_t& fill : which) fill = number[fill];
    fills.all = std::move(all);
    fills.of_block = std::move(of_block);
    fills.of_patch = std::move(of_patch);
    fills.which = std::move(which);
}

}  // namespace strata::graph
