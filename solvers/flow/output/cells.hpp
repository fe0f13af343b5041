// Gradients in cells, and what follows from them: vorticity, Q criterion, values at points.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "core/graph/declare/view.hpp"
#include "solvers/flow/boundary/fill.hpp"
#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/lanes.hpp"

namespace strata::flow {

/// The matrix that takes differences along three edges e to a gradient (axes beyond Dim have unit vectors);
/// of edges that span no volume it is 0. Returns whether they do. V: a double, or lanes of them.
template <int Dim, class V>
auto invert_edges(const std::array<Vector<3, V>, 3>& e, std::array<Vector<3, V>, 3>& inverse) {
    V product = V{} + 1.0;
    for (std::size_t a = 0; a < Dim; ++a) {
        V square{};
        for (std::size_t d = 0; d < Dim; ++d) square += e[a][d] * e[a][d];
        product *= sqrt(square);
    }
    const auto minor = [&](std::size_t a, std::size_t d) -> V {
        const std::size_t b = (a + 1) % 3, c = (a + 2) % 3, f = (d + 1) % 3, g = (d + 2) % 3;
        return e[b][f] * e[c][g] - e[b][g] * e[c][f];
    };
    const V determinant = e[0][0] * minor(0, 0) + e[0][1] * minor(0, 1) + e[0][2] * minor(0, 2);
    const auto regular = abs(determinant) > 1e-12 * product;
    for (std::size_t d = 0; d < Dim; ++d)
        for (std::size_t a = 0; a < Dim; ++a) inverse[d][a] = select(regular, minor(a, d) / determinant, V{});
    return regular;
}

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
