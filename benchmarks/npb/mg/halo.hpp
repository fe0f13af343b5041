#pragma once

#include <array>
#include <span>
#include <vector>

#include "benchmarks/npb/common/group.hpp"
#include "benchmarks/npb/mg/field.hpp"

namespace strata::npb::mg {

/// A box of processes, x running fastest, each with one block of every divided grid.
class Grid {
  public:
    /// Slabs along z on up to eight; else as near to a cube as a power of two allows, longest in z, then in
    /// y. Throws Error for other numbers.
    Grid(int rank, int processes);

    [[nodiscard]] const std::array<int, 3>& counts() const { return counts_; }
    [[nodiscard]] const std::array<int, 3>& place() const { return place_; }
    /// The neighbour one step along an axis, round the edge.
    [[nodiscard]] int neighbour(int axis, int step) const;
    [[nodiscard]] bool whole_planes() const { return counts_[0] == 1 && counts_[1] == 1; }
    [[nodiscard]] static std::array<int, 3> place_of(int rank, const std::array<int, 3>& counts);

  private:
    std::array<int, 3> counts_{1, 1, 1}, place_{0, 0, 0};
};

/// Fills the layer around the blocks of a periodic grid: along x, then along y with what came along x, then
/// along z, so that edges and corners arrive too.
class Halo {
  public:
    explicit Halo(const Grid& grid) : grid_(grid) {}

    /// The whole layer.
    void exchange(const Field& field, Group& group);
    /// Only what lies below the first and above the last plane.
    void exchange_planes(const Field& field, Group& group);
    /// Two planes of doubles go down and up, two come from below and above, all with what is around them; an
    /// empty one neither goes nor comes.
    void exchange_planes(std::span<const double> down, std::span<const double> up,
                         std::span<double> from_below, std::span<double> from_above, Group& group);
    /// Whether other processes have the planes below and above.
    [[nodiscard]] bool meets_others() const { return grid_.counts()[2] > 1; }

  private:
    void along_x(const Field& field, Group& group);
    void along_y(const Field& field, Group& group);
    Grid grid_;
    std::vector<double> out_[2], in_[2];
};

}  // namespace strata::npb::mg
