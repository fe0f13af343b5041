#include "core/graph/declare/levels.hpp"

#include <algorithm>

#include "core/graph/declare/upwind.hpp"

namespace strata::graph {

namespace {

/// Calls each(other) for the patches upwind of a patch, beyond its faces.
template <class Each>
void each_upwind(const Grid& grid, int patch, const Int3& towards, std::vector<Grid::Meeting>& met,
                 Each each) {
    for (const Box& side : upwind_of(grid.box(patch), {1, 1, 1}, towards, false)) {
        grid.find_owners(side, On::cells, {}, met);
        for (const Grid::Meeting& m : met) each(m.patch);
    }
}

}  // namespace

/// By Kahn's algorithm (1962). What is left over are patches in circles, and those behind them.
PatchLevels::PatchLevels(const Grid& grid, const Int3& towards) : grid_(grid), towards_(towards) {
    if (grid.regular()) return;
    const auto count = static_cast<std::size_t>(grid.patches());
    irregular_.assign(count, 0);
    std::vector<int> waits(count, 0), ready;
    std::vector<Grid::Meeting> met;
    for (int p = 0; p < grid.patches(); ++p) {
        int& of_patch = waits[static_cast<std::size_t>(p)];
        each_upwind(grid, p, towards, met, [&](int) { ++of_patch; });
        if (of_patch == 0) ready.push_back(p);
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
        const int next = irregular_[static_cast<std::size_t>(ready[i])] + 1;
        each_upwind(grid, ready[i], {-towards[0], -towards[1], -towards[2]}, met, [&](int other) {
            int& level = irregular_[static_cast<std::size_t>(other)];
            level = std::max(level, next);
            if (--waits[static_cast<std::size_t>(other)] == 0) ready.push_back(other);
        });
    }
    for (std::size_t p = 0; p < count; ++p)
        if (waits[p] > 0) irregular_[p] = -1;
}

int PatchLevels::of(int patch) const {
    if (!irregular_.empty()) return irregular_[static_cast<std::size_t>(patch)];
    const Int3& counts = grid_.counts();
    const Int3 at{patch % counts[0], patch / counts[0] % counts[1], patch / counts[0] / counts[1]};
    int level = 0;
    for (std::size_t a = 0; a < 3; ++a)
        if (towards_[a] != 0) level += towards_[a] > 0 ? at[a] : counts[a] - 1 - at[a];
    return level;
}

std::vector<int> PatchLevels::circle() const {
    const auto stuck = std::find(irregular_.begin(), irregular_.end(), -1);
    if (stuck == irregular_.end()) return {};
    std::vector<int> way;  // each patch without a level has one upwind
    std::vector<Grid::Meeting> met;
    int patch = static_cast<int>(stuck - irregular_.begin());
    while (std::find(way.begin(), way.end(), patch) == way.end()) {
        way.push_back(patch);
        int next = patch;
        each_upwind(grid_, patch, towards_, met, [&](int other) {
            if (of(other) < 0) next = other;
        });
        patch = next;
    }
    way.erase(way.begin(), std::find(way.begin(), way.end(), patch));
    return way;
}

}  // namespace strata::graph
