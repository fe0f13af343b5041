#pragma once

#include <functional>
#include <span>
#include <vector>

#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/flow/operator.hpp"
#include "benchmarks/npb/flow/partition.hpp"

namespace strata::npb::flow {

/// A box of this process and its fields: the solution, the forcing H, and the right-hand side, which solvers
/// turn into the change of the solution.
struct Cell {
    Index place{};
    Tile tile;
    Field u, forcing, rhs;
};

/// The grid as this process holds it, with what SP, BT and LU share: beginning, forcing, right-hand side,
/// exchange, norms.
class Domain {
  public:
    Domain(const Partition& partition, Group& group);

    /// Memory of this process, for the plan.
    [[nodiscard]] static std::vector<Need> needs(const Partition& partition, int workers);

    [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
    [[nodiscard]] Group& group() const { return group_; }
    [[nodiscard]] const Partition& partition() const { return partition_; }

    /// u = its initial values.
    void begin();
    /// The forcing: what the operator leaves of the exact solution, with the other sign.
    void force();
    /// Neighbours' values of u into the two layers around each cell.
    void exchange();
    /// rhs = factor * (forcing + L u).
    void evaluate(double factor);
    /// The sweep over one cell's planes by one worker.
    [[nodiscard]] Operator& sweep(std::size_t cell, int worker);

    /// Root mean square over the points within the boundary, of u less the exact solution, and of rhs.
    [[nodiscard]] State error_norm();
    [[nodiscard]] State rhs_norm();

  private:
    using Values = State (*)(const Index& at, const Index& n);
    void fill(Values values);
    [[nodiscard]] State norm(
        const std::function<State(const Cell&, std::int64_t, std::int64_t, std::int64_t)>&);

    Partition partition_;
    Group& group_;
    std::vector<Cell> cells_;
    std::span<double> windows_;
    std::size_t window_ = 0;
    std::vector<Operator> operators_;  // [cell * workers + worker]
    struct Faces {
        std::vector<double> out, in;
    };
    std::array<Faces, 6> faces_;  // along x, y, z; forward, then back
};

/// The ten official values of a class: norms of the residual, then of the error.
struct Official {
    State residual, error;
};
/// Each component's relative error against the official one, at most 1e-8.
[[nodiscard]] std::vector<Check> checks(const State& residual, const State& error, const Official& official);
/// The same as lines of text.
[[nodiscard]] std::vector<std::string> norm_lines(const State& residual, const State& error);

}  // namespace strata::npb::flow
