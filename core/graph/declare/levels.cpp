#include "core/graph/declare/levels.hpp"

#include <algorithm>

namespace strata::graph {

namespace {

using Lists = std::vector<std::vector<int>>;

/// [patch] -> those that come before it, ascending.
Lists before_each(const Grid& grid, const Upwind& order, bool in_place) {
    Lists before(static_cast<std::size_t>(grid.patches()));
    // Within a zone who comes first beyond faces also does beyond corners and further layers. Beyond a joined
    // face axes may turn: then all that is read counts.
    const Int3 width = grid.joined() ? order.width() : Int3{1, 1, 1};
    const bool corners = grid.joined() && order.corners;
    std::vector<Grid::Meeting> met;
    const auto each_in = [&](int patch, const Box& own, const SideBoxes& sides, auto each) {
        for (Box side : sides) {
            if (order.in_zone) side = common(side, grid.cells(grid.zone_of(patch)));
            grid.find_owners_in(grid.zone_of(patch), side, On::cells, {}, met);
            for (const Grid::Meeting& m : met)
                if (common(m.box, own).empty()) each(m.patch);
        }
    };
    for (int p = 0; p < grid.patches(); ++p) {
        const Box own = grid.box(p);
        each_in(p, own, upwind_of(own, width, order.towards, corners),
                [&](int other) { before[static_cast<std::size_t>(p)].push_back(other); });
        if (in_place && grid.joined())  // who is read as it was before waits
            each_in(p, own, downwind_of(own, width, order.towards, corners),
                    [&](int other) { before[static_cast<std::size_t>(other)].push_back(p); });
    }
    for (std::vector<int>& patches : before) {
        std::sort(patches.begin(), patches.end());
        patches.erase(std::unique(patches.begin(), patches.end()), patches.end());
    }
    return before;
}

}  // namespace

/// By Kahn's algorithm (1962). What is left over are patches in circles, and those behind them.
PatchLevels::PatchLevels(const Grid& grid, const Upwind& order, bool in_place)
    : grid_(grid), order_(order), in_place_(in_place) {
    if (grid.regular()) return;
    const Lists before = before_each(grid, order, in_place);
    Lists behind(before.size());
    std::vector<std::size_t> waits(before.size());
    std::vector<int> ready;
    for (std::size_t p = 0; p < before.size(); ++p) {
        for (const int other : before[p])
            behind[static_cast<std::size_t>(other)].push_back(static_cast<int>(p));
        waits[p] = before[p].size();
        if (waits[p] == 0) ready.push_back(static_cast<int>(p));
    }
    irregular_.assign(before.size(), 0);
    for (std::size_t i = 0; i < ready.size(); ++i) {
        const auto done = static_cast<std::size_t>(ready[i]);
        for (const int other : behind[done]) {
            int& level = irregular_[static_cast<std::size_t>(other)];
            level = std::max(level, irregular_[done] + 1);
            if (--waits[static_cast<std::size_t>(other)] == 0) ready.push_back(other);
        }
    }
    for (std::size_t p = 0; p < before.size(); ++p)
        if (waits[p] > 0) irregular_[p] = -1;
}

int PatchLevels::of(int patch) const {
    if (!irregular_.empty()) return irregular_[static_cast<std::size_t>(patch)];
    const Int3 &counts = grid_.counts(), &towards = order_.towards;
    const Int3 at{patch % counts[0], patch / counts[0] % counts[1], patch / counts[0] / counts[1]};
    int level = 0;
    for (std::size_t a = 0; a < 3; ++a)
        if (towards[a] != 0) level += towards[a] > 0 ? at[a] : counts[a] - 1 - at[a];
    return level;
}

std::vector<int> PatchLevels::circle() const {
    const auto stuck = std::find(irregular_.begin(), irregular_.end(), -1);
    if (stuck == irregular_.end()) return {};
    const Lists before = before_each(grid_, order_, in_place_);
    std::vector<int> way;  // each patch without a level has one before it
    int patch = static_cast<int>(stuck - irregular_.begin());
    while (std::find(way.begin(), way.end(), patch) == way.end()) {
        way.push_back(patch);
        const std::vector<int>& all = before[static_cast<std::size_t>(patch)];
        patch = *std::find_if(all.rbegin(), all.rend(), [&](int other) { return of(other) < 0; });
    }
    way.erase(way.begin(), std::find(way.begin(), way.end(), patch));
    return way;
}

}  // namespace strata::graph
