// What an update would do to the cells of a patch, before it is made.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "solvers/flow/scheme/lanes.hpp"
#include "solvers/flow/scheme/options.hpp"
#include "solvers/flow/scheme/patch.hpp"

namespace strata::flow {

struct Judged {
    long far = 0;        // cells whose density or pressure would change by more than `most` of itself
    long no_number = 0;  // and values of the turbulence model
    [[nodiscard]] std::array<double, 2> sums() const {
        return {static_cast<double>(far), static_cast<double>(no_number)};
    }
};

/// `dnu`: of the turbulence model's variables, of which there are `model`.
template <int Dim>
Judged judge(const Box& cells, double most, const FieldView<const double>& q,
             const FieldView<const double>& dq, const FieldView<const double>& dnu, int model) {
    Judged found;
    for (int m = 0; m < model; ++m)
        for_each(cells,
                 [&](int i, int j, int k) { found.no_number += std::isfinite(dnu(i, j, k, m)) ? 0 : 1; });
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

/// The cell that judge() would count first among those of a patch: one with a value that would be no number,
/// or else the one whose density or pressure would change most. Found where a run ends, value by value.
struct WorstCell {
    Int3 at{};
    double change = -1;                   // as a share; infinite: to no number
    std::array<double, 2> now{}, next{};  // density, pressure
};

template <int Dim>
WorstCell worst_cell(const Box& cells, double gamma, const FieldView<const double>& q,
                     const FieldView<const double>& dq, const FieldView<const double>& dnu, int model) {
    WorstCell worst;
    for_each(cells, [&](int i, int j, int k) {
        const auto state = [&](bool changed) {
            const auto value = [&](int c) { return q(i, j, k, c) + (changed ? dq(i, j, k, c) : 0); };
            double squares = 0;
            for (int d = 1; d <= Dim; ++d) squares += value(d) * value(d);
            return std::array{value(0), (gamma - 1) * (value(Dim + 1) - 0.5 * squares / value(0))};
        };
        const std::array now = state(false), next = state(true);
        bool numbers = std::isfinite(next[0]) && std::isfinite(next[1]);
        for (int m = 0; m < model; ++m) numbers = numbers && std::isfinite(dnu(i, j, k, m));
        const double change = numbers
                                  ? std::max(std::abs(next[0] / now[0] - 1), std::abs(next[1] / now[1] - 1))
                                  : std::numeric_limits<double>::infinity();
        if (change > worst.change) worst = {{i, j, k}, change, now, next};
    });
    return worst;
}

}  // namespace strata::flow
