// Vectors on an annulus that is made of equal sectors, each with x and y of its own: joined faces turn them.
#pragma once

#include <array>
#include <vector>

#include "core/graph/declare/zones.hpp"
#include "tests/graph/solvers/solver.hpp"

namespace strata::tests {

class Annulus final : public Solver {
  public:
    /// `across`: cells of a sector along the circle; `zones`: `sectors` of them, or one that is joined with
    /// itself, when all sectors are alike. `reach`: layers of ghosts along the circle.
    Annulus(int sectors, int across, int zones, int reach);

    struct Cell {
        std::array<double, 3> v{}, w{};  // in space, of sector 0
        double s = 0;
    };
    /// The whole annulus by loops over an array, [ring + kRings * place along the circle].
    [[nodiscard]] std::vector<Cell> reference(int steps) const;
    /// What a run on one process has there now, of the zones that there are.
    [[nodiscard]] std::vector<Cell> values(const graph::Simulation& run) const;
    static constexpr int kRings = 5;

    const graph::Zones* grid = nullptr;
    graph::Field<double> v, w, s;

  private:
    void declare();
    /// A vector of sector `from` as sector `to` sees it. Quarter turns are exact.
    [[nodiscard]] std::array<double, 3> seen(const std::array<double, 3>& vector, int from, int to) const;
    [[nodiscard]] Cell first(int ring, int place) const;

    int sectors_, across_, zones_, reach_;
};

}  // namespace strata::tests
