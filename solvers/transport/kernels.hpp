// The numerics: plain functions on the values of one patch. No task, no graph, no time step control in here.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/graph/declare/access.hpp"

namespace strata::transport {

using graph::Box;
using graph::FieldView;
using Real3 = std::array<double, 3>;

/// Sum, smallest and largest of what was given. Eight running values each, so that the compiler may use its
/// vectors without changing the order of additions: the bits are the same on every machine.
class Summary {
  public:
    void add(const double* values, int count) {
        int i = 0;
        for (; i + kLanes <= count; i += kLanes)
            for (int l = 0; l < kLanes; ++l) take(l, values[i + l]);
        for (int l = 0; i < count; ++i, ++l) take(l, values[i]);
    }
    [[nodiscard]] double sum() const {
        double s = 0;
        for (const double lane : sum_) s += lane;
        return s;
    }
    [[nodiscard]] double least() const { return *std::min_element(least_.begin(), least_.end()); }
    [[nodiscard]] double most() const { return *std::max_element(most_.begin(), most_.end()); }

  private:
    static constexpr int kLanes = 8;
    void take(int l, double x) {
        const auto lane = static_cast<std::size_t>(l);
        sum_[lane] += x;
        least_[lane] = x < least_[lane] ? x : least_[lane];
        most_[lane] = x > most_[lane] ? x : most_[lane];
    }
    using Lanes = std::array<double, kLanes>;
    static constexpr Lanes all(double x) { return {x, x, x, x, x, x, x, x}; }
    Lanes sum_ = all(0), least_ = all(std::numeric_limits<double>::infinity()),
          most_ = all(-std::numeric_limits<double>::infinity());
};

/// One explicit step of dT/dt = kappa lap T by central differences:
///   next = T + sum over directions d of r_d (T(-1) - 2 T + T(+1)),   r_d = kappa dt / h_d^2
/// Stable for sum r_d <= 1/2. Needs one layer around `cells` in the directions with r_d > 0. Moves 16 bytes a
/// cell where rows stay in the cache.
inline Summary conduct(const Box& cells, const FieldView<const double>& T, const FieldView<double>& next,
                       const Real3& r) {
    Summary summary;
    const int n = cells.extent(0), y = r[1] > 0 ? 1 : 0,
              z = r[2] > 0 ? 1 : 0;  // 0: that direction is not there
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
            const double* __restrict c = T.row(j, k) + cells.lo[0];
            const double* __restrict s = T.row(j - y, k) + cells.lo[0];
            const double* __restrict t = T.row(j + y, k) + cells.lo[0];
            const double* __restrict b = T.row(j, k - z) + cells.lo[0];
            const double* __restrict f = T.row(j, k + z) + cells.lo[0];
            double* __restrict out = next.row(j, k) + cells.lo[0];
            for (int i = 0; i < n; ++i)
                out[i] = c[i] + (r[0] * (c[i - 1] - 2 * c[i] + c[i + 1]) + r[1] * (s[i] - 2 * c[i] + t[i]) +
                                 r[2] * (b[i] - 2 * c[i] + f[i]));
            summary.add(out, n);
        }
    return summary;
}

/// The flux through the lower face of the cell at `T`, with neighbours `d` values away: upwind with Fromm's
/// slopes (Fromm, J. Comput. Phys. 3 (1968) 176), second order.
inline double fromm_flux(const double* T, std::ptrdiff_t d, double v) {
    const double from_below = T[-d] + 0.25 * (T[0] - T[-2 * d]);
    const double from_above = T[0] - 0.25 * (T[d] - T[-d]);
    return std::max(v, 0.0) * from_below + std::min(v, 0.0) * from_above;
}

/// One stage of a step of dT/dt + div(v T) = 0:
///   next = (1 - b) before + b (T - sum over directions d of c_d (flux(+1/2) - flux(-1/2))),  c_d = dt / h_d
/// Heun's method is two of them: b = 1, then b = 1/2 with T after the first stage (Shu and Osher, J. Comput.
/// Phys. 77 (1988) 439, eq. 2.16). v[d]: at the faces of direction d, to be multiplied with `factor`;
/// directions with c_d = 0 are not there. Needs two layers around `cells`.
inline Summary advect(const Box& cells, const FieldView<const double>& before,
                      const FieldView<const double>& T, const std::array<FieldView<const double>, 3>& v,
                      const FieldView<double>& next, double b, const Real3& c, double factor = 1) {
    Summary summary;
    const int n = cells.extent(0), lo = cells.lo[0], y = c[1] != 0 ? 1 : 0, z = c[2] != 0 ? 1 : 0;
    const std::ptrdiff_t dy = y * T.stride(1), dz = z * T.stride(2);
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
            const double* __restrict old = before.row(j, k) + lo;
            const double* __restrict at = T.row(j, k) + lo;
            const double* __restrict west = v[0].row(j, k) + lo;
            const double* __restrict south = v[1].row(j, k) + lo;
            const double* __restrict north = v[1].row(j + y, k) + lo;
            const double* __restrict below = v[2].row(j, k) + lo;
            const double* __restrict above = v[2].row(j, k + z) + lo;
            double* __restrict out = next.row(j, k) + lo;
            for (int i = 0; i < n; ++i) {
                const double* p = at + i;
                const double change =
                    c[0] * (fromm_flux(p + 1, 1, factor * west[i + 1]) - fromm_flux(p, 1, factor * west[i])) +
                    c[1] *
                        (fromm_flux(p + dy, dy, factor * north[i]) - fromm_flux(p, dy, factor * south[i])) +
                    c[2] * (fromm_flux(p + dz, dz, factor * above[i]) - fromm_flux(p, dz, factor * below[i]));
                out[i] = (1 - b) * old[i] + b * (at[i] - change);
            }
            summary.add(out, n);
        }
    return summary;
}

/// Fills the layers beyond the domain (`values` reach over them, `cells` are the patch's) with the value of
/// the nearest cell: no gradient at the wall.
inline void extend_to_walls(const Box& cells, const FieldView<double>& values) {
    const Box& all = values.box();
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
            double* row = values.row(j, k);
            for (int i = all.lo[0]; i < cells.lo[0]; ++i) row[i] = row[cells.lo[0]];
            for (int i = cells.hi[0]; i < all.hi[0]; ++i) row[i] = row[cells.hi[0] - 1];
        }
    const auto copy_row = [&](int from_j, int from_k, int j, int k) {
        const double* from = values.row(from_j, from_k) + cells.lo[0];
        std::copy(from, from + cells.extent(0), values.row(j, k) + cells.lo[0]);
    };
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k) {
        for (int j = all.lo[1]; j < cells.lo[1]; ++j) copy_row(cells.lo[1], k, j, k);
        for (int j = cells.hi[1]; j < all.hi[1]; ++j) copy_row(cells.hi[1] - 1, k, j, k);
    }
    for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
        for (int k = all.lo[2]; k < cells.lo[2]; ++k) copy_row(j, cells.lo[2], j, k);
        for (int k = cells.hi[2]; k < all.hi[2]; ++k) copy_row(j, cells.hi[2] - 1, j, k);
    }
}

}  // namespace strata::transport
