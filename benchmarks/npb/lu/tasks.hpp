// LU as a task graph: no order of planes, rows or threads is written here, only what a patch needs of those
// before it.
#pragma once

#include <vector>

#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/flow/domain.hpp"
#include "core/graph/expand/assign/assignment.hpp"

namespace strata::npb::lu {

/// The largest patch of a division: whole rows along x, so many eights of them along y, so many planes.
struct PatchSize {
    std::int64_t eights, planes;
    /// For a cube of so many points in each direction: 16 rows in 8 planes, whose values are in a
    /// second-level cache from one task to the next, or less where the grid would have few patches
    /// (docs/npb-speed.md).
    [[nodiscard]] static PatchSize of(std::int64_t points);
};

/// The graph of an iteration: `lower` and `upper` solve the triangular systems in the order that follows from
/// what patches hand on along y and z, `residual` evaluates the right-hand side again. After the last
/// iteration the norms are taken.
///
/// The grid has a cell for each point, and along x as many more as fill the last eight. A patch hands on what
/// its last row and its last plane contribute to the next ones (rows.hpp), not its solution.
class Tasks {
  public:
    Tasks(const flow::Problem& problem, PatchSize size, Break fault);
    Tasks(const Tasks&) = delete;
    Tasks& operator=(const Tasks&) = delete;

    [[nodiscard]] graph::Graph& graph() { return graph_; }
    [[nodiscard]] const graph::Grid& grid() const { return grid_; }
    /// Each process has blocks of rows with all their planes, so that all are at work soon after a sweep has
    /// begun; where there are more processes than blocks, as the graph does it.
    [[nodiscard]] graph::Assignment assignment(int processes) const;

    /// Sums of squares of the residual and of the error, and of pressures on the faces: of the last
    /// iteration.
    graph::Scalar<flow::State> residual, error;
    graph::Scalar<std::array<double, 3>> pressures;

  private:
    using Fields = graph::Field<double>;
    struct Handed {
        Fields rows, planes;
    };
    void declare_start();
    template <int Way>
    void declare_solve(const Handed& handed);
    void declare_residual(graph::Scope& scope);
    void declare_norms();
    [[nodiscard]] Handed handed(const char* name);
    [[nodiscard]] flow::Tile tile(int patch) const;

    flow::Problem problem_;
    Break fault_;
    graph::Graph graph_{"lu"};
    std::int64_t blocks_;  // of rows
    graph::Grid& grid_;
    Fields u_, forcing_, rhs_;
    std::vector<flow::Operator> operators_;  // [patch]
    std::vector<double> zeros_;              // contributed from beyond the boundary
};

/// LU for a program whose group is a TeamGroup.
extern const Benchmark benchmark_by_tasks;

}  // namespace strata::npb::lu
