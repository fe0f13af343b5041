// From the grid to particles: the velocity gradient of CST, and G2M of the Uintah paper. Eight particles of a
// cell at once: they share their grid points.
#pragma once

#include "solvers/mpm/particles.hpp"

namespace strata::mpm {

/// What particles find in a field of three components.
struct Gathered {
    Lanes value[3];     // sum of w v
    Lanes gradient[9];  // [3 c + a]: sum of v_c g_a, g_x = g(x) w(y) w(z) and so on
};

/// With the derivatives of the shape functions in `g` the gradient; with Shape::affine() APIC's matrix C.
template <class Shape, bool Gradient = true>
Gathered gather(const Weights<Shape>& weights, const Int3& cell, const FieldView<const double>& field,
                int first = 0) {
    constexpr int N = Shape::kPoints;
    const auto& [dx, dy, dz] = weights.d;
    Gathered found{};
    for (int c = 0; c < 3; ++c) {
        Lanes value{}, x{}, y{}, z{};
        for (int k = 0; k < N; ++k) {
            Lanes plane{}, plane_x{}, plane_y{};
            for (int j = 0; j < N; ++j) {
                const double* const at = graph::pointer_to(
                    field.row(cell[1] + j + Shape::kFirst, cell[2] + k + Shape::kFirst, first + c) +
                        (cell[0] + Shape::kFirst),
                    N);
                Lanes row = dx.w[0] * at[0], row_x = dx.g[0] * at[0];
                for (int i = 1; i < N; ++i) {
                    row += dx.w[i] * at[i];
                    if constexpr (Gradient) row_x += dx.g[i] * at[i];
                }
                plane += dy.w[j] * row;
                if constexpr (Gradient) plane_x += dy.w[j] * row_x, plane_y += dy.g[j] * row;
            }
            value += dz.w[k] * plane;
            if constexpr (Gradient) x += dz.w[k] * plane_x, y += dz.w[k] * plane_y, z += dz.g[k] * plane;
        }
        found.value[c] = value;
        found.gradient[3 * c] = x, found.gradient[3 * c + 1] = y, found.gradient[3 * c + 2] = z;
    }
    return found;
}

/// The same of particles each of which has its own group's field (Points::group): `group` is that of the
/// first of n.
template <class Shape, bool Gradient = true>
Gathered gather_own(const Weights<Shape>& weights, const Int3& cell, const FieldView<const double>& field,
                    const std::int32_t* group, int n) {
    Gathered found = gather<Shape, Gradient>(weights, cell, field, 3 * group[0]);
    for (int p = 1; p < n; ++p) {
        if (group[p] == group[0]) continue;
        const Gathered own = gather<Shape, Gradient>(weights, cell, field, 3 * group[p]);
        for (int c = 0; c < 3; ++c) found.value[c][p] = own.value[c][p];
        for (int c = 0; c < 9; ++c) found.gradient[c][p] = own.gradient[c][p];
    }
    return found;
}

}  // namespace strata::mpm
