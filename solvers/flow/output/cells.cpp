#include "solvers/flow/output/cells.hpp"

#include <cmath>

#include "solvers/flow/boundary/states.hpp"

namespace strata::flow {

template <int Dim>
void CellDifferences<Dim>::invert(const FieldView<const double>& centres) {
    std::array<Real3, 3> e{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (std::size_t a = 0; a < Dim; ++a)
        for (std::size_t d = 0; d < Dim; ++d)
            e[a][d] = centres(upper_[a][0], upper_[a][1], upper_[a][2], static_cast<int>(d)) -
                      centres(lower_[a][0], lower_[a][1], lower_[a][2], static_cast<int>(d));
    singular_ = !invert_edges<Dim>(e, inverse_);
}

template <int Dim>
void vortices(const Box& cells, const FieldView<const double>& q, const FieldView<const double>& centres,
              const FieldView<double>& vorticity, const FieldView<double>& criterion,
              const std::function<bool(const Int3& cell)>& is_known) {
    graph::for_each(cells, [&](int i, int j, int k) {
        const CellDifferences<Dim> differences(centres, centres.box(), {i, j, k},
                                               [&](const Int3& cell) { return !is_known || is_known(cell); });
        std::array<Real3, 3> g{};  // [component of u][direction]
        for (int c = 0; c < Dim; ++c)
            g[static_cast<std::size_t>(c)] = differences.gradient(
                [&](const Int3& at) { return q(at[0], at[1], at[2], 1 + c) / q(at[0], at[1], at[2], 0); });
        if constexpr (Dim == 2) {
            vorticity(i, j, k) = g[1][0] - g[0][1];
        } else {
            vorticity(i, j, k, 0) = g[2][1] - g[1][2];
            vorticity(i, j, k, 1) = g[0][2] - g[2][0];
            vorticity(i, j, k, 2) = g[1][0] - g[0][1];
        }
        // (|Omega|^2 - |S|^2) / 2 = -(du_a/dx_b du_b/dx_a) / 2
        double sum = 0;
        for (std::size_t a = 0; a < Dim; ++a)
            for (std::size_t b = 0; b < Dim; ++b) sum += g[a][b] * g[b][a];
        criterion(i, j, k) = -0.5 * sum;
    });
}

template class CellDifferences<2>;
template class CellDifferences<3>;
template void vortices<2>(const Box&, const FieldView<const double>&, const FieldView<const double>&,
                          const FieldView<double>&, const FieldView<double>&,
                          const std::function<bool(const Int3&)>&);
template void vortices<3>(const Box&, const FieldView<const double>&, const FieldView<const double>&,
                          const FieldView<double>&, const FieldView<double>&,
                          const std::function<bool(const Int3&)>&);

}  // namespace strata::flow
