// The order of patches in a sweep.
#pragma once

#include <vector>

#include "core/graph/declare/family.hpp"
#include "core/graph/declare/upwind.hpp"

namespace strata::graph {

/// For each patch of a grid its level: 0 where no patch comes before it, else one more than the highest of
/// those that do. Patches of one level do not wait for each other, and the lower ones begin the
/// longer ways to the end of the sweep.
///   Example: 3 x 2 patches, up along x and y, have the levels 0 1 2 in the lower row and 1 2 3 in the upper
///   one.
///
/// Before a patch come those that lie upwind of it beyond a face, along the axes of its zone. Where faces of
/// zones are joined these are all from which it reads: with a few layers, and corners. Of a sweep within
/// zones none lies beyond a joined face.
class PatchLevels {
  public:
    /// `in_place`: values on the other sides are read as they were before, so their patches come later.
    /// Takes time and memory proportional to the patches of an irregular grid, or of several zones.
    PatchLevels(const Grid& grid, const Upwind& order, bool in_place = false);
    /// -1: it waits for itself, around a circle.
    [[nodiscard]] int of(int patch) const;
    /// Patches of which each waits for the next one, and the last for the first. Empty: there are none, as in
    /// every regular grid.
    [[nodiscard]] std::vector<int> circle() const;

  private:
    const Grid& grid_;
    Upwind order_;
    bool in_place_;
    std::vector<int> irregular_;  // [patch]; empty: the grid is regular
};

}  // namespace strata::graph
