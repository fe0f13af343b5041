#include "core/graph/declare/ghost_copies.hpp"

#include <cstring>

#include "core/graph/declare/graph.hpp"
#include "core/graph/declare/inside_here.hpp"

namespace strata::graph {

namespace {

/// The boxes in which a use that modifies has ghosts.
std::vector<Box> ghosts_of(const Use& use, const Box& own) {
    std::vector<Box> all;
    if (use.towards != Int3{}) {
        for (const Box& side : upwind_of(own, use.width, use.towards, use.corners)) all.push_back(side);
        for (const Box& side : downwind_of(own, use.width, use.towards, use.corners)) all.push_back(side);
    } else {
        all.push_back(own.grown(use.width));
    }
    return all;
}

}  // namespace

GhostCopies::GhostCopies(const Here& here) : here_(here) {
    const CallData& call = InsideHere::of(here);
    for (std::size_t u = 0; u < call.use_data.size(); ++u) {
        const Use& use = call.task->uses[u];
        const LabelInfo& label = call.task->graph->labels()[use.version.label];
        if (use.access != Access::modify || use.width == Int3{} || label.kind != Kind::field) continue;
        const auto& grid = static_cast<const Grid&>(*label.family);
        for (const Box& box : ghosts_of(use, grid.owned(here.patch, label.on, label.border)))
            if (const Box there = common(box, call.use_data[u].box); !there.empty()) {
                copies_.push_back({static_cast<int>(u), there, {}});
                std::vector<std::byte>& values = copies_.back().values;
                each_row(copies_.back(), [&](const Int3&, const std::byte* row, std::size_t bytes) {
                    values.insert(values.end(), row, row + bytes);
                });
            }
    }
}

/// row(index of the first value, values, bytes) for each row and component of a copy's box.
template <class Row>
void GhostCopies::each_row(const Copy& copy, Row row) const {
    const CallData& call = InsideHere::of(here_);
    const UseData& at = call.use_data[static_cast<std::size_t>(copy.use)];
    const LabelInfo& label =
        call.task->graph->labels()[call.task->uses[static_cast<std::size_t>(copy.use)].version.label];
    const auto bytes = static_cast<std::ptrdiff_t>(label.bytes);
    const Box& box = copy.box;
    for (int c = 0; c < label.components; ++c)
        for (int k = box.lo[2]; k < box.hi[2]; ++k)
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                row(Int3{box.lo[0], j, k},
                    at.origin + (box.lo[0] + j * at.y + k * at.z + c * at.component) * bytes,
                    static_cast<std::size_t>(box.extent(0)) * label.bytes);
}

void GhostCopies::compare() const {
    const CallData& call = InsideHere::of(here_);
    for (const Copy& copy : copies_) {
        const Use& use = call.task->uses[static_cast<std::size_t>(copy.use)];
        const LabelInfo& label = call.task->graph->labels()[use.version.label];
        const Box own = static_cast<const Grid&>(*label.family).owned(here_.patch, label.on, label.border);
        const std::byte* before = copy.values.data();
        each_row(copy, [&](const Int3& first, const std::byte* row, std::size_t bytes) {
            for (std::size_t at = 0; at < bytes; at += label.bytes) {
                Int3 index = first;
                index[0] += static_cast<int>(at / label.bytes);
                if (!own.contains(index) && std::memcmp(before + at, row + at, label.bytes) != 0)
                    refuse_ghost({&here_, copy.use}, index, own);
            }
            before += bytes;
        });
    }
}

}  // namespace strata::graph
