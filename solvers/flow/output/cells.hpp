// Gradients in cells, and what follows from them: vorticity, Q criterion, values at points.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "core/graph/declare/view.hpp"
#include "solvers/flow/boundary/fill.hpp"

namespace strata::flow {

/// What takes differences between the neighbours of a cell along i, j, k (at the ends of what is there:
/// between the cell and one neighbour) to a gradient. Exact for linear functions on any grid.
template <int Dim>
class CellDifferences {
  public:
    /// `centres` with one layer of ghosts beyond faces where there are any. Cells outside `limits` are not
    /// used.
    CellDifferences(const FieldView<const double>& centres, const Box& limits, const Int3& cell)
        : CellDifferences(centres, limits, cell, [](const Int3&) { return true; }) {}
    /// Nor those that `is_known` says false of.
    template <class IsKnown>
    CellDifferences(const FieldView<const double>& centres, const Box& limits, const Int3& cell,
                    const IsKnown& is_known) {
        const Box seen = graph::common(centres.box(), limits);
        for (std::size_t a = 0; a < Dim; ++a) {
            lower_[a] = upper_[a] = cell;
            ++upper_[a][a], --lower_[a][a];
            if (!seen.contains(upper_[a]) || !is_known(upper_[a])) upper_[a] = cell;
            if (!seen.contains(lower_[a]) || !is_known(lower_[a])) lower_[a] = cell;
        }
        invert(centres);
    }
    /// `value(at)` of a cell.
    template <class Value>
    [[nodiscard]] Real3 gradient(Value&& value) const {
        Real3 g{};
        for (int d = 0; d < Dim; ++d) {
            const double difference =
                value(upper_[static_cast<std::size_t>(d)]) - value(lower_[static_cast<std::size_t>(d)]);
            for (int a = 0; a < Dim; ++a)
                g[static_cast<std::size_t>(a)] +=
                    inverse_[static_cast<std::size_t>(a)][static_cast<std::size_t>(d)] * difference;
        }
        return g;
    }
    /// The centres lie in a plane or on a line: gradients are 0.
    [[nodiscard]] bool singular() const { return singular_; }

  private:
    void invert(const FieldView<const double>& centres);

    std::array<Int3, 3> lower_{}, upper_{};
    std::array<Real3, 3> inverse_{};
    bool singular_ = false;
};

/// Vorticity (2D: one component, 3D: three) and Q = (|Omega|^2 - |S|^2) / 2 (Hunt et al. 1988) of a box of
/// cells. `is_known`: whether a cell has a solution (of meshes that overlap: it is no hole); without it all
/// have.
template <int Dim>
void vortices(const Box& cells, const FieldView<const double>& q, const FieldView<const double>& centres,
              const FieldView<double>& vorticity, const FieldView<double>& criterion,
              const std::function<bool(const Int3& cell)>& is_known = {});

}  // namespace strata::flow
