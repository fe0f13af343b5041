#pragma once

#include <array>
#include <span>

#include "benchmarks/npb/flow/cells.hpp"
#include "benchmarks/npb/lu/blocks.hpp"

namespace strata::npb::lu {

/// What points contribute to those after them, five components each: taken from the points before some rows,
/// and handed on.
struct Contributions {
    /// To a row, along y. Component m begins at `at + m * pitch`, with RowSolve::kMargin doubles on both
    /// sides that are zero. A margin may be that of the component before.
    struct Row {
        double* at = nullptr;
        std::int64_t pitch = 0;
    };
    Row before{}, behind{};
    /// To the points of a plane, along z: by the plane before, and by this one. They may be the same.
    flow::Field below{}, above{};
    /// To a column, along x: from another process and to one, [y][component]; empty in a whole row.
    std::span<double> west{}, east{};
};

/// The triangular solves of an iteration of SSOR (RNR-94-007, section 3) in rows of one cell: (D + omega L) v
/// = dt * residual from the first point on (Way 1), then (I + omega D^-1 U) w = v from the last one back (Way
/// -1), u += w / (omega (2 - omega)). A point needs those before it along x, y and z. The right-hand side has
/// the residual, and is used up.
///
/// Eight rows go together, each a point behind the one before it, so that they are lanes of one vector.
class RowSolve {
  public:
    static constexpr double kOmega = 1.2;
    /// Room beside each row that lanes ahead or behind run into; it stays zero.
    static constexpr std::int64_t kMargin = kLanes;

    /// The cell stays where it is.
    RowSolve(const flow::Cell& cell, double dt, Break fault);
    /// Zeroed memory that whoever solves rows brings along.
    [[nodiscard]] static std::size_t scratch_doubles(const flow::Index& size);
    /// From one component of a row with margins to the next.
    [[nodiscard]] static std::int64_t pitch(const flow::Index& size) {
        return flow::round_up(size[0]) + 2 * kMargin;
    }

    /// Eights of a plane's rows within the boundary; the last one may have fewer rows.
    [[nodiscard]] std::int64_t eights() const {
        return flow::round_up(cell_.tile.last(1) - cell_.tile.first(1)) / kLanes;
    }
    /// The eights [begin, end) of plane z, in the order of the sweep.
    template <int Way>
    void eights(std::int64_t z, std::int64_t begin, std::int64_t end, const Contributions& handed,
                double* scratch) const;

  private:
    struct Rows;

    template <int Way>
    void begin_rows(std::int64_t z, const flow::Field& below, const Rows& rows) const;
    template <int Way>
    void solve_rows(std::int64_t z, const Contributions& handed, const Rows& rows) const;
    template <int Way>
    void end_rows(std::int64_t z, const flow::Field& above, const Rows& rows) const;

    const flow::Cell& cell_;
    const flow::Tile& tile_;
    double dt_;
    Break fault_;
    Diagonal diagonal_;
    std::array<Factors, 3> factors_;  // of the lower blocks; upper ones have the other sign of `first`
    std::int64_t width_;              // of a row, in eights
};

}  // namespace strata::npb::lu
