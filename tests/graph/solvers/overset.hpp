// Two overlapping curvilinear zones, one of which rotates, exchange donors' values.
#pragma once

#include <array>
#include <vector>

#include "tests/graph/solvers/solver.hpp"

namespace strata::tests {

using Point = std::array<double, 2>;

/// u_t + v . grad u = 0 with v a solid rotation around (0, 0), on a background of curved lines and a ring of
/// cells around (1, 0) that turns about its centre. Each point of a zone follows the flow back to where it
/// came from and interpolates there in its zone's own coordinates (Staniforth and Cote 1991, Monthly Weather
/// Review 119, 2206), by parabolas: second order. Points of the ring's fringe take their values from the
/// background, points of a hole in the background from the ring: each from nine donors, which are others in
/// each step as the ring turns.
class Overset final : public Solver {
  public:
    /// `n`: cells of the background in each direction; a multiple of 25.
    explicit Overset(int n = 25);

    [[nodiscard]] int half_turn() const { return steps_; }
    /// Root of the mean square of the errors at all points of both zones. On one process.
    [[nodiscard]] double error(const graph::Simulation& run) const;
    /// Cells of the background that take their values from the ring.
    [[nodiscard]] int hole() const;
    /// Whether any donor is itself a cell that takes its value from the other zone.
    [[nodiscard]] bool borrowed(std::int64_t step) const;

    const graph::Grid *background, *ring;
    graph::Field<double> on_background, on_ring;

  private:
    /// Where in a zone a point lies: its coordinates there, in cells.
    [[nodiscard]] Point background_at(const Point& place) const;
    [[nodiscard]] Point background_place(const Point& at) const;
    [[nodiscard]] Point ring_at(const Point& place, std::int64_t step) const;
    [[nodiscard]] Point ring_place(const Point& at, std::int64_t step) const;
    [[nodiscard]] Point came_from(const Point& place) const;
    [[nodiscard]] double exact(const Point& place, std::int64_t step) const;
    [[nodiscard]] bool in_hole(int i, int j) const;

    [[nodiscard]] graph::Gather::Table donors_of_ring(std::int64_t step) const;
    [[nodiscard]] graph::Gather::Table donors_of_background(std::int64_t step) const;
    /// Cells that take their values from the other zone, of a patch.
    [[nodiscard]] std::vector<graph::Int3> fringe(int patch) const;
    [[nodiscard]] std::vector<graph::Int3> hole(int patch) const;
    void declare();

    int n_, across_, around_, steps_;
    double angle_;  // of the flow in a step
};

}  // namespace strata::tests
