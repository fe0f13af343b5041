// Two levels of refinement: subcycling, ghosts interpolated in time, fluxes put right at the interface.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "tests/graph/solvers/solver.hpp"

namespace strata::tests {

/// u_t + a u_x + b u_y = 0 on the periodic unit square by Colella's unsplit second-order upwind method (1990,
/// Journal of Computational Physics 87, 171, without limiter); parts of it are refined by two and take two
/// steps for each coarse one (Berger and Colella 1989, Journal of Computational Physics 82, 64, section 3).
class Refined final : public Solver {
  public:
    /// `n`: coarse cells in each direction, a multiple of 16. `refluxing`: whether coarse cells beside finer
    /// ones end up with the finer ones' fluxes.
    explicit Refined(int n = 32, bool refluxing = true);

    /// Mean distance to the solution, over coarse cells. On one process.
    [[nodiscard]] double error(const graph::Simulation& run) const;
    /// The largest distance to it on the fine level. On one process.
    [[nodiscard]] double largest_error(const graph::Simulation& run) const;

    const graph::Grid *coarse, *fine;
    graph::Field<double> on_coarse, on_fine;
    graph::Scalar<double> mass;

  private:
    /// A side of a cell, towards a cell of the other level.
    struct Face {
        int i, j, axis, upper;
    };
    [[nodiscard]] bool is_refined(int i, int j) const;  // a coarse cell, periodic
    [[nodiscard]] std::vector<Face> faces_of(const graph::Grid& grid, int patch, int ratio,
                                             bool of_refined) const;
    [[nodiscard]] graph::Gather::Table finer_faces() const;
    [[nodiscard]] double mean_at_first(double x, double y, double h) const;
    void declare();
    void declare_coarse();
    void declare_fine();

    int n_;
    bool refluxing_;
    double step_;                                               // in time, of the coarse level
    std::vector<bool> refined_;                                 // [coarse cell]
    std::vector<std::vector<Face>> coarse_faces_, fine_faces_;  // [patch]
    graph::List<double> through_coarse_, through_fine_;         // integrals over a coarse step
    const graph::Overlap *coarser_, *finer_;
    const graph::Gather* faces_;
};

}  // namespace strata::tests
