// The numerics: plain functions on the values of one patch. No task, no graph, no time step control in here.
#pragma once

#include <array>
#include <cmath>

#include "core/graph/kernels/sweep.hpp"

namespace strata::transport {

using graph::Box;
using graph::FieldView;
using graph::Int3;
using graph::Real3;
using graph::kernels::Reads;
using graph::kernels::Stores;
using graph::kernels::Summary;

/// One explicit step of dT/dt = kappa lap T by central differences:
///   next = T + sum over directions d of r_d (T(-1) - 2 T + T(+1)),   r_d = kappa dt / h_d^2
/// Stable for sum r_d <= 1/2. Needs one layer around `cells` in the directions with r_d > 0. Moves 16 bytes a
/// cell where rows stay in the cache, 24 if stores are cached.
inline Summary conduct(const Box& cells, const FieldView<const double>& T, const FieldView<double>& next,
                       const Real3& r, Stores stores = Stores::cached) {
    const int y = r[1] > 0 ? 1 : 0, z = r[2] > 0 ? 1 : 0;  // 0: that direction is not there
    const double centre = 1 - 2 * (r[0] + r[1] + r[2]);
    return sweep(cells, std::array{Reads{T, {1, y, z}, {1, y, z}}}, next, stores, [=](const Int3& at) {
        const auto row = [&](int dj, int dk) { return T.row(at[1] + dj, at[2] + dk) + at[0]; };
        return [=, c = row(0, 0), s = row(-y, 0), t = row(y, 0), b = row(0, -z), f = row(0, z)](auto value) {
            return centre * value(c) + (r[0] * (value(c - 1) + value(c + 1)) + r[1] * (value(s) + value(t)) +
                                        r[2] * (value(b) + value(f)));
        };
    });
}

/// The flux through the face between `a` and `b`, with `aa` before and `bb` behind them: upwind with Fromm's
/// slopes (Fromm, J. Comput. Phys. 3 (1968) 176), second order.
template <class Real>
inline Real fromm_flux(Real aa, Real a, Real b, Real bb, Real v) {
    const Real from_below = a + 0.25 * (b - aa), from_above = b - 0.25 * (bb - a);
    return v * (v < 0.0 ? from_above : from_below);
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
    const int y = c[1] != 0 ? 1 : 0, z = c[2] != 0 ? 1 : 0;
    const std::array reads{Reads{T, {2, 2 * y, 2 * z}, {2, 2 * y, 2 * z}}, Reads{before},
                           Reads{v[0], {}, {1, 0, 0}}, Reads{v[1], {}, {0, y, 0}},
                           Reads{v[2], {}, {0, 0, z}}};
    return sweep(cells, reads, next, stores, [=](const Int3& first) {
        const auto row = [&first](const FieldView<const double>& field, int dj, int dk) {
            return field.row(first[1] + dj, first[2] + dk) + first[0];
        };
        const auto old = row(before, 0, 0), at = row(T, 0, 0), west = row(v[0], 0, 0);
        const auto s2 = row(T, -2 * y, 0), s1 = row(T, -y, 0), n1 = row(T, y, 0), n2 = row(T, 2 * y, 0);
        const auto b2 = row(T, 0, -2 * z), b1 = row(T, 0, -z), a1 = row(T, 0, z), a2 = row(T, 0, 2 * z);
        const auto south = row(v[1], 0, 0), north = row(v[1], y, 0);
        const auto below = row(v[2], 0, 0), above = row(v[2], 0, z);
        return [=](auto value) {
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
        };
    });
}

}  // namespace strata::transport
