// What an update would do to the cells of a patch, before it is made.
#pragma once

#include <array>
#include <cmath>

#include "solvers/flow/scheme/options.hpp"
#include "solvers/flow/scheme/patch.hpp"

namespace strata::flow {

struct Judged {
    long far = 0;  // cells whose density or pressure would change by more than `most` of itself
    long no_number = 0;
    [[nodiscard]] std::array<double, 2> sums() const {
        return {static_cast<double>(far), static_cast<double>(no_number)};
    }
};

template <int Dim>
Judged judge(const Box& cells, double most, const FieldView<const double>& q,
             const FieldView<const double>& dq) {
    Judged found;
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
            for (int i = cells.lo[0]; i < cells.hi[0]; ++i) {
                double before = 0, after = 0;
                for (int d = 1; d <= Dim; ++d) {
                    const double m = q(i, j, k, d), next = m + dq(i, j, k, d);
                    before += m * m, after += next * next;
                }
                const double rho = q(i, j, k, 0), rho_next = rho + dq(i, j, k, 0);
                const double p = q(i, j, k, Dim + 1) - 0.5 * before / rho;
                const double p_next = q(i, j, k, Dim + 1) + dq(i, j, k, Dim + 1) - 0.5 * after / rho_next;
                if (!std::isfinite(rho_next) || !std::isfinite(p_next)) {
                    ++found.no_number;
                } else if (std::abs(rho_next - rho) > most * rho || std::abs(p_next - p) > most * p) {
                    ++found.far;
                }
            }
    return found;
}

}  // namespace strata::flow
