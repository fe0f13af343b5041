#include "methods/geometry/surface.hpp"

#include <bit>
#include <utility>

namespace strata::geometry {

namespace {

/// Where a line along `axis` through x meets a segment: true, and the place along the axis.
bool crosses_segment(const Facet& e, const Real3& x, std::size_t axis, double& at) {
    const std::size_t b = 1 - axis;
    if ((e[0][b] <= x[b]) == (e[1][b] <= x[b])) return false;
    // From the lower end, so that a segment and its reverse give the same bits.
    const bool up = e[0][b] < e[1][b];
    const Real3 &lo = up ? e[0] : e[1], &hi = up ? e[1] : e[0];
    at = lo[axis] + (hi[axis] - lo[axis]) * ((x[b] - lo[b]) / (hi[b] - lo[b]));
    return true;
}

/// The same of a triangle. In the projection along the axis a half line to the right of x meets an odd number
/// of its edges where x lies in it; an edge and its reverse give the same bits.
bool crosses_triangle(const Facet& e, const Real3& x, std::size_t axis, double& at) {
    const std::size_t b = (axis + 1) % 3, c = (axis + 2) % 3;
    bool within = false;
    for (std::size_t n = 0; n < 3; ++n) {
        const Real3 &p = e[n], &q = e[(n + 1) % 3];
        if ((p[c] <= x[c]) == (q[c] <= x[c])) continue;
        const bool up = p[c] < q[c];
        const Real3 &lo = up ? p : q, &hi = up ? q : p;
        if (lo[b] + (hi[b] - lo[b]) * ((x[c] - lo[c]) / (hi[c] - lo[c])) > x[b]) within = !within;
    }
    if (!within) return false;
    const Real3 u = minus(e[1], e[0]), v = minus(e[2], e[0]), off = minus(x, e[0]);
    const double det = u[b] * v[c] - u[c] * v[b];
    if (det == 0) return false;
    const double s = (off[b] * v[c] - off[c] * v[b]) / det, t = (u[b] * off[c] - u[c] * off[b]) / det;
    at = e[0][axis] + s * u[axis] + t * v[axis];
    return true;
}

std::vector<NumberedFacet> numbered(const std::vector<Facet>& facets) {
    std::vector<NumberedFacet> all;
    all.reserve(facets.size());
    for (const Facet& facet : facets) all.push_back({facet, static_cast<std::int32_t>(all.size())});
    return all;
}

}  // namespace

Surface::Surface(int dimensions, const std::vector<Facet>& facets)
    : dimensions_(dimensions), tree_(numbered(facets)) {}

unsigned Surface::rays(const Real3& x) const {
    unsigned odd = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimensions_); ++axis) {
        Bounds line{x, x};
        line.lo[axis] = -Bounds::kNone, line.hi[axis] = Bounds::kNone;
        tree_.meeting(line, [&](const NumberedFacet& facet) {
            double at;
            if (dimensions_ == 2 ? crosses_segment(facet.corners, x, axis, at)
                                 : crosses_triangle(facet.corners, x, axis, at))
                odd ^= 1U << (2 * axis + (at > x[axis] ? 0 : 1));
        });
    }
    return odd;
}

Real3 Surface::nearest(const Real3& x) const {
    Real3 best = x;
    double least = Bounds::kNone;
    std::int32_t first = 0;
    for (const NumberedFacet& facet : facets()) {
        const Real3 p = nearest_point(x, facet.corners);
        const double d = dot(minus(x, p), minus(x, p));
        if (d < least || (d == least && facet.number < first)) least = d, best = p, first = facet.number;
    }
    return best;
}

bool inside(unsigned rays, int dimensions) { return std::popcount(rays) > dimensions; }

}  // namespace strata::geometry
