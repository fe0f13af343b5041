// The inverse of the bilinear or trilinear map from the unit square or cube to a cell between centres.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/graph/declare/box.hpp"

namespace strata::overset {

using graph::Real3;

/// The centres at the corners of such a cell: corner n is up along axis a where bit a of n is set.
template <int Dim>
using Corners = std::array<Real3, std::size_t{1} << Dim>;

/// What each corner counts at a place in the unit square or cube. The sum is 1 but for rounding.
template <int Dim>
[[nodiscard]] std::array<double, std::size_t{1} << Dim> weights(const Real3& xi) {
    std::array<double, std::size_t{1} << Dim> w;
    for (std::size_t n = 0; n < w.size(); ++n) {
        w[n] = 1;
        for (std::size_t a = 0; a < Dim; ++a) w[n] *= (n >> a & 1) != 0 ? xi[a] : 1 - xi[a];
    }
    return w;
}

/// Finds the xi that the map takes to x, by Newton's method from the middle. False: it did not converge, as
/// for places many cells away and cells without volume.
template <int Dim>
[[nodiscard]] bool invert(const Corners<Dim>& corners, const Real3& x, Real3& xi) {
    constexpr int kSteps = 24;
    constexpr double kFar = 8, kSmall = 1e-13;
    xi = {0.5, 0.5, Dim == 3 ? 0.5 : 0};
    for (int step = 0; step < kSteps; ++step) {
        const auto w = weights<Dim>(xi);
        std::array<double, Dim> off{};
        std::array<std::array<double, Dim>, Dim> slope{};  // [component][axis]
        for (std::size_t n = 0; n < w.size(); ++n)
            for (std::size_t d = 0; d < Dim; ++d) off[d] += w[n] * corners[n][d];
        for (std::size_t a = 0; a < Dim; ++a) {
            const std::size_t b = (a + 1) % Dim, c = (a + 2) % Dim;  // c is not used in two dimensions
            for (std::size_t n = 0; n < w.size(); ++n) {
                if ((n >> a & 1) != 0) continue;
                double part = (n >> b & 1) != 0 ? xi[b] : 1 - xi[b];
                if constexpr (Dim == 3) part *= (n >> c & 1) != 0 ? xi[c] : 1 - xi[c];
                const std::size_t up = n | std::size_t{1} << a;
                for (std::size_t d = 0; d < Dim; ++d) slope[d][a] += part * (corners[up][d] - corners[n][d]);
            }
        }
        for (std::size_t d = 0; d < Dim; ++d) off[d] = x[d] - off[d];
        std::array<double, Dim> by;
        if constexpr (Dim == 2) {
            const double det = slope[0][0] * slope[1][1] - slope[0][1] * slope[1][0];
            if (det == 0) return false;
            by = {(off[0] * slope[1][1] - slope[0][1] * off[1]) / det,
                  (slope[0][0] * off[1] - off[0] * slope[1][0]) / det};
        } else {
            const auto& s = slope;
            const double c0 = s[1][1] * s[2][2] - s[1][2] * s[2][1],
                         c1 = s[1][2] * s[2][0] - s[1][0] * s[2][2],
                         c2 = s[1][0] * s[2][1] - s[1][1] * s[2][0];
            const double det = s[0][0] * c0 + s[0][1] * c1 + s[0][2] * c2;
            if (det == 0) return false;
            by[0] = (off[0] * c0 + off[1] * (s[0][2] * s[2][1] - s[0][1] * s[2][2]) +
                     off[2] * (s[0][1] * s[1][2] - s[0][2] * s[1][1])) /
                    det;
            by[1] = (off[0] * c1 + off[1] * (s[0][0] * s[2][2] - s[0][2] * s[2][0]) +
                     off[2] * (s[0][2] * s[1][0] - s[0][0] * s[1][2])) /
                    det;
            by[2] = (off[0] * c2 + off[1] * (s[0][1] * s[2][0] - s[0][0] * s[2][1]) +
                     off[2] * (s[0][0] * s[1][1] - s[0][1] * s[1][0])) /
                    det;
        }
        double most = 0;
        for (std::size_t a = 0; a < Dim; ++a) {
            xi[a] += by[a];
            most = std::max(most, std::abs(by[a]));
            if (!(std::abs(xi[a]) < kFar)) return false;
        }
        if (most < kSmall) return true;
        // Rounding of the places alone may keep a step above the limit.
        if (step > 8 && most < 1e-10) return true;
    }
    return false;
}

}  // namespace strata::overset
