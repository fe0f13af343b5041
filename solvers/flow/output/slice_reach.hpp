// Where the grid lies along what tells a cut: a coordinate, or the angle about the axis of a rotor.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "methods/curvilinear/grid.hpp"
#include "solvers/flow/output/slices.hpp"

namespace strata::flow {

/// Whether a mesh is periodic by rotation.
[[nodiscard]] bool is_sector(const GridSystem& grid);

struct Reach {
    double low = 0, high = 0;
};

/// Where a grid lies, for many cuts. Asks for nodes on the faces of zones alone, once for all planes and once
/// for all half planes about an axis. The grid must outlive it.
class Reaches {
  public:
    explicit Reaches(const GridSystem& grid) : grid_(grid) {}
    /// Of a plane the least and greatest coordinate of nodes; of a half plane the angles in degrees: each
    /// zone's own are followed from node to node, so they may be beyond 180. Zones that touch are one entry,
    /// ascending. Where meshes are periodic by rotation, angles are those of these meshes alone: what lies
    /// beyond a sector is the same flow again.
    [[nodiscard]] const std::vector<Reach>& of(const Slice& slice);

  private:
    const GridSystem& grid_;
    std::vector<std::vector<Reach>> planes_;                                          // [axis]
    std::map<std::pair<std::size_t, graph::Real3>, std::vector<Reach>> half_planes_;  // by axis and its point
};

/// The place within them, an angle by full turns away. One at an end (but for rounding) lies a hair's breadth
/// within, so that cells on one side have all of a half plane. None: the cut meets no cell.
[[nodiscard]] std::optional<double> within(const Slice& slice, const std::vector<Reach>& all);

}  // namespace strata::flow
