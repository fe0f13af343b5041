#pragma once

#include <vector>

#include "benchmarks/npb/flow/cells.hpp"
#include "benchmarks/npb/flow/partition.hpp"

namespace strata::npb::flow {

/// The cells of one grid that this process holds, and their exchange with other processes.
class Domain : public Cells {
  public:
    Domain(const Partition& partition, Group& group);

    /// Memory of this process, for the plan.
    [[nodiscard]] static std::vector<Need> needs(const Partition& partition, int workers) {
        return Cells::needs(partition.tiles(), workers);
    }

    [[nodiscard]] const Partition& partition() const { return partition_; }

    /// Neighbours' values of u into the two layers around each cell.
    void exchange();

    /// Root mean square over the points within the boundary, of u less the exact solution, and of rhs.
    [[nodiscard]] State error_norm() { return norm(error_sums(Over::within)); }
    [[nodiscard]] State rhs_norm() { return norm(rhs_sums()); }

  private:
    [[nodiscard]] State norm(const std::vector<State>& sums) const;

    Partition partition_;
    struct Faces {
        std::vector<double> out, in;
    };
    std::array<Faces, 6> faces_;  // along x, y, z; forward, then back
};

/// The norm of sums of squares over the points within the boundary of a grid of n points.
[[nodiscard]] State root_mean_square(State sums, const Index& n);

/// The ten official values of a class: norms of the residual, then of the error.
struct Official {
    State residual, error;
};
/// A class of SP, BT or LU, on a cube.
struct Problem {
    std::int64_t points;  // in each direction
    int iterations;
    double dt;
    Official official;    // NPB 3.4; relative errors at most 1e-8
    double integral = 0;  // LU: the surface integral
    [[nodiscard]] Index n() const { return {points, points, points}; }
    [[nodiscard]] std::string size_text() const;
};

/// Each component's relative error against the official one, at most 1e-8.
[[nodiscard]] std::vector<Check> checks(const State& residual, const State& error, const Official& official);
/// The same as lines of text, with all digits.
[[nodiscard]] std::vector<std::string> norm_lines(const State& residual, const State& error);

}  // namespace strata::npb::flow
