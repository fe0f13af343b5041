// A weighted mean of all cells around, with as many layers as one likes: on a grid, and on zones with turned
// axes that make up the same domain.
#pragma once

#include <array>
#include <vector>

#include "core/graph/declare/zones.hpp"
#include "tests/graph/solvers/solver.hpp"

namespace strata::tests {

/// A domain of cells, periodic or not.
struct Domain {
    graph::Box cells;
    std::array<bool, 3> periodic{};
};

/// A part of a domain as a zone: its axes there (graph::IndexMap, from the domain to the zone), its first
/// cell.
struct ZonePart {
    graph::Box cells;  // in the domain's indices
    graph::Axes axes = graph::kSameAxes;
    graph::Int3 first{};  // the zone's lowest indices
    graph::Int3 patch_cells{};

    [[nodiscard]] graph::IndexMap to_zone() const;
};

/// Zones of parts that fill a domain, joined wherever two of them touch.
[[nodiscard]] graph::ZoneList joined(const std::string& name, const Domain& domain,
                                     const std::vector<ZonePart>& parts);

/// u at each cell becomes the sum of weights times u of the cells around that are in the domain, in the order
/// of the domain's indices. On any division into zones and patches it has the bits of reference().
class Stencil final : public Solver {
  public:
    /// `reach`: layers, along the axes of the domain.
    Stencil(const Domain& domain, const graph::Int3& patch_cells, const graph::Int3& reach);
    Stencil(const Domain& domain, const std::vector<ZonePart>& parts, const graph::Int3& reach);

    /// All values, x fastest in the domain's indices. On one process.
    [[nodiscard]] std::vector<double> values(const graph::Simulation& run) const;
    /// The same by loops over an array.
    [[nodiscard]] static std::vector<double> reference(const Domain& domain, const graph::Int3& reach,
                                                       int steps);

    const graph::Grid* grid = nullptr;
    graph::Field<double> u;

  private:
    void declare();
    Domain domain_;
    graph::Int3 reach_;
    std::vector<graph::IndexMap> to_zone_;  // [zone]
};

/// Three blocks with turned axes instead of one, three layers of ghosts.
[[nodiscard]] std::unique_ptr<Stencil> three_blocks();
/// Patches of one or two cells and three layers of ghosts, in a box that is two cells wide and periodic in x.
[[nodiscard]] std::unique_ptr<Stencil> narrow_patches();

}  // namespace strata::tests
