#pragma once

#include <functional>
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
    enum class Over { within, all };
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
    using Values = State (*)(const Index& at, const Tile& tile);
    static State initial_values(const Index& at, const Tile& t) { return initial(at, t.n, t.scale); }
    static State exact_values(const Index& at, const Tile& t) { return exact(at, t.scale); }
    void fill(Values values);
    using Value = std::function<State(const Cell&, std::int64_t, std::int64_t, std::int64_t)>;
    [[nodiscard]] std::vector<State> sums(Over over, const Value& value);

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
