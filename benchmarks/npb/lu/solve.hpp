#pragma once

#include <span>
#include <string>

#include "benchmarks/npb/flow/cells.hpp"
#include "benchmarks/npb/lu/blocks.hpp"

namespace strata::npb::lu {

/// The triangular solves of an iteration of SSOR (RNR-94-007, section 3) in one cell: (D + omega L) v = dt *
/// residual from the first point on (Way 1), then (I + omega D^-1 U) w = v from the last one back (Way -1), u
/// += w / (omega (2 - omega)). A point needs those before it along x, y and z. The right-hand side has the
/// residual, and is used up.
///
/// Eight rows go together, each a point behind the one before it, so that they are lanes of one vector. Rows
/// are divided in blocks; a block may do a plane when the block before it has done that plane, one step
/// earlier.
class Solve {
  public:
    static constexpr double kOmega = 1.2;

    /// `name`: what the arrays' names end with. The cell stays where it is.
    Solve(const flow::Cell& cell, int blocks, double dt, Break fault, Group& group, const std::string& name);
    /// Of the arrays; and memory that whoever does a plane brings along, in doubles.
    [[nodiscard]] static std::uint64_t bytes(const flow::Index& size, int blocks);
    [[nodiscard]] static std::size_t scratch_doubles(const flow::Index& size);

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
    struct Rows;
    [[nodiscard]] std::size_t row_doubles() const;

    template <int Way>
    void begin_rows(std::int64_t z, const Rows& rows);
    template <int Way>
    void solve_rows(std::int64_t z, const Rows& rows);
    template <int Way>
    void end_rows(std::int64_t z, const Rows& rows);

    const flow::Cell& cell_;
    const flow::Tile& tile_;
    double dt_;
    Break fault_;
    Diagonal diagonal_;
    std::array<Factors, 3> factors_;  // of the lower blocks; upper ones have the other sign of `first`
    std::int64_t width_;              // of a row, in eights
    int blocks_;
    std::span<double> behind_, handed_, west_, east_;
};

}  // namespace strata::npb::lu
