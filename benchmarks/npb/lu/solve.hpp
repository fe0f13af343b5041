#pragma once

#include <span>
#include <string>

#include "benchmarks/npb/lu/rows.hpp"

namespace strata::npb::lu {

/// The triangular solves of one cell, plane by plane. Rows are divided in blocks; a block may do a plane when
/// the block before it has done that plane, one step earlier.
class Solve {
  public:
    /// `name`: what the arrays' names end with. The cell stays where it is.
    Solve(const flow::Cell& cell, int blocks, double dt, Break fault, Group& group, const std::string& name);
    /// Of the arrays.
    [[nodiscard]] static std::uint64_t bytes(const flow::Index& size, int blocks);
    /// Memory that whoever does a plane brings along, in doubles.
    [[nodiscard]] static std::size_t scratch_doubles(const flow::Index& size) {
        return RowSolve::scratch_doubles(size);
    }

    [[nodiscard]] std::int64_t planes() const { return tile_.last(2) - tile_.first(2); }
    [[nodiscard]] int blocks() const { return blocks_; }

    /// Before a sweep, by each of `workers`: nothing contributes from beyond the boundary in z, and where
    /// this is the `edge` of the grid, in y (another sweep may have left something there).
    void clear(int worker, int workers, bool edge);
    /// The nth plane in the order of the sweep, block `block` in its order. `step` counts planes of the block
    /// before, so that what is handed on is found.
    template <int Way>
    void plane(std::int64_t nth, int block, std::int64_t step, double* scratch);

    /// What block `block` takes from the one before it after `step`: from another process for the first, to
    /// one from the last.
    [[nodiscard]] std::span<double> handed(int block, std::int64_t step);
    /// What comes along x from another process, and what goes to one.
    [[nodiscard]] std::span<double> west() { return west_; }
    [[nodiscard]] std::span<double> east() { return east_; }

  private:
    [[nodiscard]] std::size_t row_doubles() const;

    const flow::Tile& tile_;
    RowSolve rows_;
    int blocks_;
    flow::Field behind_;
    std::span<double> plane_, handed_, west_, east_;
};

}  // namespace strata::npb::lu
