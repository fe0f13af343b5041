#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "benchmarks/npb/flow/cells.hpp"

namespace strata::npb::flow {

/// Eight lines of a cell side by side, one in each lane. Along x they are rows y0 to y0 + 7 of plane z; along
/// y and z they begin at x0 to x0 + 7.
struct Bundle {
    std::int64_t first = 0;   // y0, or x0
    std::int64_t second = 0;  // z, or y
};

/// The bundles of a cell in a direction, counted plane by plane (along z: row by row).
struct Bundles {
    std::int64_t begin, across, planes, offset;

    Bundles(const Tile& t, std::size_t direction)
        : begin(direction == 0 ? t.first(1) : 0),
          across(round_up(direction == 0 ? t.last(1) - t.first(1) : t.size[0]) / kLanes),
          planes(direction == 2 ? t.last(1) - t.first(1) : t.last(2) - t.first(2)),
          offset(direction == 2 ? t.first(1) : t.first(2)) {}
    [[nodiscard]] std::int64_t count() const { return across * planes; }
    [[nodiscard]] Bundle operator[](std::int64_t i) const {
        return {begin + i % across * kLanes, offset + i / across};
    }
};

/// Points of a bundle's memory: a line in any direction, in eights, and one before and behind.
[[nodiscard]] inline std::int64_t longest_line(const Tile& t) {
    return round_up(*std::max_element(t.size.begin(), t.size.end())) + 2;
}

/// An iteration of an approximate factorisation (RNR-94-007, section 3): the right-hand side, then systems
/// along the lines in x, y and z, the change of u being what comes out last. Here where lines are whole.
///
/// A Scheme says how the systems are made and solved:
///   kValues, kFactors    vectors for each point of a bundle: what systems are made of, what elimination
///                        leaves for the way back
///   kForward, kBackward  vectors that elimination, and the way back, carry from point to point
///   gather<D>(cell, bundle, values)            reads a bundle
///   forward<D>(tile, values, factors, carry)   eliminates
///   backward<D>(tile, values, factors, carry)  substitutes
///   scatter<D>(cell, bundle, values)           writes the result; along z, adds it to u
template <class Scheme>
class Lines {
  public:
    /// `scheme` stays where it is.
    Lines(Cells& cells, const Scheme& scheme, double dt) : scheme_(scheme), dt_(dt) {
        std::int64_t longest = 0;
        for (const Cell& cell : cells.cells()) longest = std::max(longest, longest_line(cell.tile));
        points_ = static_cast<std::size_t>(longest);
        const std::size_t all = points_ * static_cast<std::size_t>(cells.group().workers()) * kLanes;
        values_ = cells.group().template array<double>("lines", all * Scheme::kValues);
        factors_ = cells.group().template array<double>("factors", all * Scheme::kFactors);
    }
    [[nodiscard]] static std::vector<Need> needs(std::span<const Tile> tiles, int workers) {
        std::int64_t longest = 0;
        for (const Tile& tile : tiles) longest = std::max(longest, longest_line(tile));
        return needs_of(static_cast<std::uint64_t>(longest * workers));
    }
    /// Of so many points that are under work at once.
    [[nodiscard]] static std::vector<Need> needs_of(std::uint64_t points) {
        const std::uint64_t bytes = points * kLanes * sizeof(double);
        return {{"lines under work", bytes * Scheme::kValues},
                {"what elimination leaves", bytes * Scheme::kFactors}};
    }

    /// A plane's right-hand side and its lines in x and y while it is in a cache, plane by plane.
    void planes(const Work& work) {
        const Tile& t = work.cell.tile;
        const Bundles x(t, 0), y(t, 1);
        for (std::int64_t plane = work.part.begin; plane < work.part.end; ++plane) {
            work.operate.plane(t.first(2) + plane, work.cell.forcing, work.cell.rhs, dt_);
            solve<0>(work, plane, x);
            solve<1>(work, plane, y);
        }
    }
    /// The lines in z of as large a part of the rows, once all planes of the cell are done: u changes.
    void rows(const Work& work) {
        const Bundles z(work.cell.tile, 2);
        for (std::int64_t row = work.part.first_of(z.planes); row < work.part.last_of(z.planes); ++row)
            solve<2>(work, row, z);
    }

  private:
    template <int D>
    void solve(const Work& work, std::int64_t plane, const Bundles& bundles) {
        const std::size_t room = points_ * kLanes * static_cast<std::size_t>(work.worker);
        double* values = values_.data() + room * Scheme::kValues;
        double* factors = factors_.data() + room * Scheme::kFactors;
        for (std::int64_t i = plane * bundles.across; i < (plane + 1) * bundles.across; ++i) {
            double* own = values + Scheme::kValues * kLanes;  // of point 0; one before it may be read
            scheme_.template gather<D>(work.cell, bundles[i], own);
            Vec carry[std::max(Scheme::kForward, Scheme::kBackward)]{};
            scheme_.template forward<D>(work.cell.tile, own, factors, carry);
            std::fill(std::begin(carry), std::end(carry), Vec{});
            scheme_.template backward<D>(work.cell.tile, own, factors, carry);
            scheme_.template scatter<D>(work.cell, bundles[i], own);
        }
    }

    const Scheme& scheme_;
    double dt_;
    std::size_t points_ = 0;
    std::span<double> values_, factors_;
};

}  // namespace strata::npb::flow
