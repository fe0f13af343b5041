// Points and vectors in space.
#pragma once

#include <cstddef>

#include "core/graph/declare/view.hpp"

namespace strata::geometry {

using graph::Real3;

[[nodiscard]] inline Real3 minus(const Real3& a, const Real3& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
[[nodiscard]] inline double dot(const Real3& a, const Real3& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
[[nodiscard]] inline Real3 cross(const Real3& a, const Real3& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// The point that a field of nodes or centres has at an index; in two dimensions the third coordinate is 0.
[[nodiscard]] inline Real3 point_at(const graph::FieldView<const double>& field, int dimensions,
                                    const graph::Int3& at) {
    Real3 x{};
    for (int d = 0; d < dimensions; ++d) x[static_cast<std::size_t>(d)] = field(at[0], at[1], at[2], d);
    return x;
}

}  // namespace strata::geometry
