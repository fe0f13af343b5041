// Particles that carry charges, and meshes of other patches onto which these are spread: a mesh of the same
// level by clouds in cells, one twice as fine by B-splines of order 4, one three times as coarse by clouds.
#pragma once

#include <map>
#include <vector>

#include "tests/graph/solvers/solver.hpp"

namespace strata::tests {

/// x and y are periodic; along z particles stay away from the borders. Positions and charges of clouds are
/// multiples of 1/32, so that their sums are exact; those of splines round.
class Charges final : public Solver {
  public:
    Charges();

    /// The values that a mesh should have, by its nodes, out of the particles that each patch has now:
    /// window after window, in the order of patches. On one process.
    using Nodes = std::map<graph::Int3, double>;
    [[nodiscard]] Nodes expected_near(const graph::Simulation& run) const;
    [[nodiscard]] Nodes expected_fine(const graph::Simulation& run) const;
    [[nodiscard]] Nodes expected_coarse(const graph::Simulation& run) const;
    /// The values that it has, of one component.
    [[nodiscard]] static Nodes values(const graph::Simulation& run, const graph::Grid& mesh,
                                      graph::LabelId label, int component = 0);

    graph::Grid *cells = nullptr, *pencils = nullptr, *fine = nullptr, *coarse = nullptr;
    graph::Field<double> near, on_fine, on_coarse;
    graph::Scalar<double> total, total_fine, total_coarse;

  private:
    void declare_particles();
    void declare_spreading();
    void declare_totals();
    [[nodiscard]] Nodes spread(const graph::Simulation& run, double scale, int order) const;

    graph::SetId set_;
    graph::Particles<std::int64_t> id_;
    graph::Particles<double> x_, v_, q_;
};

}  // namespace strata::tests
