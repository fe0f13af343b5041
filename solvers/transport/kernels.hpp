// The numerics: plain functions on the values of one patch. No task, no graph, no time step control in here.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "core/graph/declare/access.hpp"
#include "solvers/transport/rows.hpp"

namespace strata::transport {

using graph::Box;
using graph::FieldView;
using Real3 = std::array<double, 3>;

/// One explicit step of dT/dt = kappa lap T by central differences:
///   next = T + sum over directions d of r_d (T(-1) - 2 T + T(+1)),   r_d = kappa dt / h_d^2
/// Stable for sum r_d <= 1/2. Needs one layer around `cells` in the directions with r_d > 0. Moves 16 bytes a
/// cell where rows stay in the cache, 24 if stores are cached.
inline Summary conduct(const Box& cells, const FieldView<const double>& T, const FieldView<double>& next,
                       const Real3& r, Stores stores = Stores::cached) {
    RowWriter rows(stores);
    const int n = cells.extent(0), y = r[1] > 0 ? 1 : 0,
              z = r[2] > 0 ? 1 : 0;  // 0: that direction is not there
    const double centre = 1 - 2 * (r[0] + r[1] + r[2]);
    const FetchAhead ahead(T, cells, {1, y, z}, {1, y, z});
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
            const Row<const double> c = T.row(j, k) + cells.lo[0];
            const Row<const double> s = T.row(j - y, k) + cells.lo[0];
            const Row<const double> t = T.row(j + y, k) + cells.lo[0];
            const Row<const double> b = T.row(j, k - z) + cells.lo[0];
            const Row<const double> f = T.row(j, k + z) + cells.lo[0];
            rows.write(next.row(j, k) + cells.lo[0], n, std::array{ahead.row(j, k)}, [=](auto at) {
                return centre * at(c) +
                       (r[0] * (at(c - 1) + at(c + 1)) + r[1] * (at(s) + at(t)) + r[2] * (at(b) + at(f)));
            });
        }
    return rows.summary();
}

/// The flux through the face between `a` and `b`, with `aa` before and `bb` behind them: upwind with Fromm's
/// slopes (Fromm, J. Comput. Phys. 3 (1968) 176), second order.
template <class Real>
inline Real fromm_flux(Real aa, Real a, Real b, Real bb, Real v) {
    const Real from_below = a + 0.25 * (b - aa), up = v < 0.0 ? Real{} : v;
    const Real from_above = b - 0.25 * (bb - a), down = v > 0.0 ? Real{} : v;
    return up * from_below + down * from_above;
}

/// One stage of a step of dT/dt + div(v T) = 0:
///   next = (1 - b) before + b (T - sum over directions d of c_d (flux(+1/2) - flux(-1/2))),  c_d = dt / h_d
/// Heun's method is two of them: b = 1, then b = 1/2 with T after the first stage (Shu and Osher, J. Comput.
/// Phys. 77 (1988) 439, eq. 2.16). v[d]: at the faces of direction d, to be multiplied with `factor`;
/// directions with c_d = 0 are not there. Needs two layers around `cells`.
inline Summary advect(const Box& cells, const FieldView<const double>& before,
                      const FieldView<const double>& T, const std::array<FieldView<const double>, 3>& v,
                      const FieldView<double>& next, double b, const Real3& c, double factor = 1,
                      Stores stores = Stores::cached) {
    RowWriter rows(stores);
    const int n = cells.extent(0), lo = cells.lo[0], y = c[1] != 0 ? 1 : 0, z = c[2] != 0 ? 1 : 0;
    const Int3 none{}, two{2, 2 * y, 2 * z};
    const std::array ahead{FetchAhead(T, cells, two, two), FetchAhead(before, cells, none, none),
                           FetchAhead(v[0], cells, none, none), FetchAhead(v[1], cells, none, {0, y, 0}),
                           FetchAhead(v[2], cells, none, {0, 0, z})};
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
            const auto row = [&](int dj, int dk) { return T.row(j + dj, k + dk) + lo; };
            const Row<const double> old = before.row(j, k) + lo, at = row(0, 0);
            const Row<const double> s2 = row(-2 * y, 0), s1 = row(-y, 0), n1 = row(y, 0), n2 = row(2 * y, 0);
            const Row<const double> b2 = row(0, -2 * z), b1 = row(0, -z), a1 = row(0, z), a2 = row(0, 2 * z);
            const Row<const double> west = v[0].row(j, k) + lo;
            const Row<const double> south = v[1].row(j, k) + lo, north = v[1].row(j + y, k) + lo;
            const Row<const double> below = v[2].row(j, k) + lo, above = v[2].row(j, k + z) + lo;
            const auto to_come =
                std::apply([j, k](const auto&... field) { return std::array{field.row(j, k)...}; }, ahead);
            rows.write(next.row(j, k) + lo, n, to_come, [=](auto value) {
                const auto T0 = value(at), west0 = value(at - 1), east0 = value(at + 1);
                const auto south0 = value(s1), north0 = value(n1), below0 = value(b1), above0 = value(a1);
                const auto change =
                    c[0] * (fromm_flux(west0, T0, east0, value(at + 2), factor * value(west + 1)) -
                            fromm_flux(value(at - 2), west0, T0, east0, factor * value(west))) +
                    c[1] * (fromm_flux(south0, T0, north0, value(n2), factor * value(north)) -
                            fromm_flux(value(s2), south0, T0, north0, factor * value(south))) +
                    c[2] * (fromm_flux(below0, T0, above0, value(a2), factor * value(above)) -
                            fromm_flux(value(b2), below0, T0, above0, factor * value(below)));
                return (1 - b) * value(old) + b * (T0 - change);
            });
        }
    return rows.summary();
}

/// Fills the layers beyond the domain (`values` reach over them, `cells` are the patch's) with the value of
/// the nearest cell: no gradient at the wall.
inline void extend_to_walls(const Box& cells, const FieldView<double>& values) {
    const Box& all = values.box();
    if (all.extent(0) > cells.extent(0))
        for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
            for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
                const Row<double> row = values.row(j, k);
                for (int i = all.lo[0]; i < cells.lo[0]; ++i) row[i] = row[cells.lo[0]];
                for (int i = cells.hi[0]; i < all.hi[0]; ++i) row[i] = row[cells.hi[0] - 1];
            }
    const auto copy_row = [&](int from_j, int from_k, int j, int k) {
        const Row<const double> from = values.row(from_j, from_k) + cells.lo[0];
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
