// What an update would do to the cells of a patch, before it is made.
#pragma once

#include <array>
#include <cmath>

#include "solvers/flow/scheme/lanes.hpp"
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
    const auto eight = [&](int i, int n, int j, int k) {
        Lanes before{}, after{};
        for (int d = 1; d <= Dim; ++d) {
            const Lanes m = load(q, i, j, k, d, n), next = m + load(dq, i, j, k, d, n);
            before += m * m, after += next * next;
        }
        const Lanes rho = load(q, i, j, k, 0, n), rho_next = rho + load(dq, i, j, k, 0, n);
        const Lanes E = load(q, i, j, k, Dim + 1, n);
        const Lanes p = E - 0.5 * before / rho;
        const Lanes p_next = E + load(dq, i, j, k, Dim + 1, n) - 0.5 * after / rho_next;
        const Lanes rho_change = abs(rho_next - rho), p_change = abs(p_next - p);
        if (all_of((rho_change <= most * rho) & (p_change <= most * p), n)) return;
        for (int l = 0; l < n; ++l) {
            if (!std::isfinite(rho_next[l]) || !std::isfinite(p_next[l]))
                ++found.no_number;
            else if (rho_change[l] > most * rho[l] || p_change[l] > most * p[l])
                ++found.far;
        }
    };
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
            over_eights(cells.lo[0], cells.hi[0], [&](int i, int n) { eight(i, n, j, k); });
    return found;
}

}  // namespace strata::flow
