#include "methods/geometry/sides.hpp"

#include <algorithm>
#include <utility>

namespace strata::geometry {

namespace {

/// The share of its longer diagonal by which a face may be warped and still is two triangles.
constexpr double kFlat = 1e-10;

void add_by_shape(const Real3& p00, const Real3& p10, const Real3& p01, const Real3& p11,
                  std::vector<Facet>& facets) {
    const Real3 up = minus(p11, p00), down = minus(p01, p10);
    // Corners that lie in no plane: cells on such a face are where its middle is, and the first ones may be a
    // thousandth of its warp high.
    Real3 middle, warp;
    for (std::size_t d = 0; d < 3; ++d) {
        middle[d] = 0.25 * (p00[d] + p10[d] + p01[d] + p11[d]);
        warp[d] = p00[d] + p11[d] - p10[d] - p01[d];
    }
    const Real3 normal = cross(up, down);
    const double out = dot(warp, normal), size = std::max(dot(up, up), dot(down, down));
    if (out * out > kFlat * kFlat * size * dot(normal, normal)) {
        const std::array<Real3, 4> around{p00, p10, p11, p01};
        for (std::size_t n = 0; n < 4; ++n) facets.push_back({around[n], around[(n + 1) % 4], middle});
    } else if (dot(up, up) <= dot(down, down)) {
        facets.push_back({p00, p10, p11});
        facets.push_back({p00, p11, p01});
    } else {
        facets.push_back({p00, p10, p01});
        facets.push_back({p10, p11, p01});
    }
}

}  // namespace

void add_side(int dimensions, const graph::Box& cells, const graph::Face& face,
              const graph::FieldView<const double>& nodes, Diagonal diagonal, std::vector<Facet>& facets) {
    const auto a = static_cast<std::size_t>(face.axis);
    const bool same = diagonal == Diagonal::same;
    std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
    if (b > c && (dimensions == 2 || !same)) std::swap(b, c);
    graph::Box faces = cells;
    faces.lo[a] = face.upper ? cells.hi[a] : cells.lo[a];
    faces.hi[a] = faces.lo[a] + 1;
    graph::for_each(faces, [&](int i, int j, int k) {
        const auto node = [&](int up_b, int up_c) {
            graph::Int3 at{i, j, k};
            at[b] += up_b, at[c] += up_c;
            return point_at(nodes, dimensions, at);
        };
        const Real3 p00 = node(0, 0), p10 = node(1, 0);
        if (dimensions == 2) {
            if (!same || p00 != p10) facets.push_back({p00, p10, p10});
            return;
        }
        const Real3 p01 = node(0, 1), p11 = node(1, 1);
        if (!same) return add_by_shape(p00, p10, p01, p11, facets);
        facets.push_back({p00, p10, p11});
        facets.push_back({p00, p11, p01});
    });
}

}  // namespace strata::geometry
