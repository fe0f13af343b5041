// Sweeps over zones: x of one may go on as y of the next, but what is ordered goes on in the same way.
#pragma once

#include <vector>

#include "tests/graph/solvers/stencils.hpp"

namespace strata::tests {

/// Up along x and y and back, in place; and a table of sums over all cells to the lower left. Three zones
/// make up a domain; on any division they have the bits of reference().
class Swept final : public Solver {
  public:
    Swept();

    /// [cell of the domain, x fastest]
    struct Values {
        std::vector<double> u, table;
        friend bool operator==(const Values&, const Values&) = default;
    };
    /// On one process.
    [[nodiscard]] Values values(const graph::Simulation& run) const;
    /// By loops over the whole domain.
    [[nodiscard]] static Values reference(int steps);

  private:
    void declare_sweep(int version, int sign);
    void declare_table();
    /// Calls body(cell of the domain) in the order of the zone's axes, each up (1) or down (-1).
    template <class Body>
    void each_cell(const graph::Here& here, int sign, Body body) const;
    template <class View>
    [[nodiscard]] auto in_domain(const graph::Here& here, const View& view) const;

    std::vector<ZonePart> parts_;
    const graph::Zones* zones_ = nullptr;
    graph::Field<double> u_, table_;
};

}  // namespace strata::tests
