// The order of patches in a sweep.
#pragma once

#include <vector>

#include "core/graph/declare/family.hpp"

namespace strata::graph {

/// For each patch of a grid its level: 0 where no patch is upwind of it beyond a face, else one more than the
/// highest of those that are. Patches of one level do not wait for each other, and the lower ones begin the
/// longer ways to the end of the sweep.
///   Example: 3 x 2 patches, up along x and y, have the levels 0 1 2 in the lower row and 1 2 3 in the upper
///   one.
class PatchLevels {
  public:
    /// `towards`: as Upwind::towards. Takes time and memory proportional to the patches of an irregular grid.
    PatchLevels(const Grid& grid, const Int3& towards);
    /// -1: it waits for itself, around a circle.
    [[nodiscard]] int of(int patch) const;
    /// Patches of which each waits for the next one, and the last for the first. Empty: there are none, as in
    /// every regular grid.
    [[nodiscard]] std::vector<int> circle() const;

  private:
    const Grid& grid_;
    Int3 towards_;
    std::vector<int> irregular_;  // [patch]; empty: the grid is regular
};

}  // namespace strata::graph
