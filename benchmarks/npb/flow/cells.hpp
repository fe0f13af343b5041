#pragma once

#include <span>
#include <vector>

#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/flow/division.hpp"
#include "benchmarks/npb/flow/operator.hpp"

namespace strata::npb::flow {

/// A box of this process and its fields: the solution, the forcing H, and the right-hand side, which solvers
/// turn into the change of the solution.
struct Cell {
    Index place{};  // among the boxes of one grid
    Tile tile;
    Field u, forcing, rhs;
};

[[nodiscard]] std::vector<Tile> tiles_of(std::span<const Cell> cells);

/// Values of the five components at a point of the grid, 0 <= at < n.
using Values = State (*)(const Index& at, const Tile& tile);
[[nodiscard]] inline State initial_values(const Index& at, const Tile& t) {
    return initial(at, t.n, t.scale);
}
[[nodiscard]] inline State exact_values(const Index& at, const Tile& t) { return exact(at, t.scale); }
/// The same at any point. What lies beyond the grid is gas at rest: it has no weight, but is computed with.
[[nodiscard]] State value_at(Values values, const Index& at, const Tile& tile);

/// u = `values` in the planes [from, to) of a box, with two layers beyond its own points in x and y.
void fill(const Field& u, const Tile& tile, std::int64_t from, std::int64_t to, Values values);

/// What norms are taken of: u less the exact solution, and rhs.
[[nodiscard]] State error_at(const Cell& cell, std::int64_t x, std::int64_t y, std::int64_t z);
[[nodiscard]] State rhs_at(const Cell& cell, std::int64_t x, std::int64_t y, std::int64_t z);

/// Points within the boundary, or all.
enum class Over { within, all };
/// The sum of squares of value(cell, x, y, z) over the planes [from, to) of a box.
template <class Value>
[[nodiscard]] State sum_of_squares(const Cell& cell, Over over, std::int64_t from, std::int64_t to,
                                   Value&& value) {
    const Tile& t = cell.tile;
    const bool all = over == Over::all;
    State sum{};
    for (std::int64_t z = from; z < to; ++z)
        for (std::int64_t y = all ? 0 : t.first(1); y < (all ? t.size[1] : t.last(1)); ++y)
            for (std::int64_t x = all ? 0 : t.first(0); x < (all ? t.size[0] : t.last(0)); ++x) {
                const State s = value(cell, x, y, z);
                for (std::size_t m = 0; m < kComponents; ++m) sum[m] += s[m] * s[m];
            }
    return sum;
}

/// What a worker works on: its part of a cell, and a sweep over that.
struct Work {
    std::size_t index;  // of the cell
    const Cell& cell;
    const Part& part;
    int worker;
    Operator& operate;
};

/// rhs = factor * (forcing + L u) in a worker's part.
void evaluate(const Work& work, double factor);

/// Boxes of one grid or of several, as a process (or a team) holds them, with what SP, BT and LU share:
/// beginning, forcing, right-hand side, sums for norms.
class Cells {
  public:
    Cells(std::vector<Cell> cells, Division division, Group& group);

    /// Memory of such cells, for the plan.
    [[nodiscard]] static std::vector<Need> needs(std::span<const Tile> tiles, int workers);

    [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
    [[nodiscard]] Group& group() const { return group_; }

    /// u = its initial values.
    void begin() { fill(initial_values); }
    /// The forcing: what the operator leaves of the exact solution, with the other sign.
    void force();
    /// rhs = factor * (forcing + L u).
    void evaluate(double factor);

    /// Of each cell the sums of squares, of u less the exact solution over the points within the boundary or
    /// over all, and of rhs over those within.
    [[nodiscard]] std::vector<State> error_sums(Over over);
    [[nodiscard]] std::vector<State> rhs_sums();

    /// Whether workers share a cell.
    [[nodiscard]] bool any_shared() const { return division_.any_shared(); }

    /// body(work) for the parts of all workers, at once; all have ended when it returns.
    template <class Body>
    void each(Body&& body) {
        group_.each([&](int worker, int) {
            for (std::size_t i = division_.first(worker); i < division_.first(worker + 1); ++i) {
                const Part& part = division_.parts()[i];
                const Cell& cell = cells_[part.cell];
                operators_[i].begin(cell.u, windows_.data() + window_ * static_cast<std::size_t>(worker));
                body(Work{part.cell, cell, part, worker, operators_[i]});
            }
        });
    }

  private:
    void fill(Values values);
    using Value = State (*)(const Cell&, std::int64_t, std::int64_t, std::int64_t);
    [[nodiscard]] std::vector<State> sums(Over over, Value value);

    Group& group_;
    std::vector<Cell> cells_;
    Division division_;
    std::size_t window_ = 0;
    std::span<double> windows_;
    std::vector<Operator> operators_;  // one for each part
    // Sums of each part, in two arrays in turn: a member of a team that is ahead writes the next while
    // another still reads.
    std::array<std::span<double>, 2> sums_;
    bool second_ = false;
};

}  // namespace strata::npb::flow
