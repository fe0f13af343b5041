#include "methods/geometry/facet.hpp"

#include <algorithm>
#include <utility>

namespace strata::geometry {

namespace {

double to_segment(const Real3& x, const Real3& a, const Real3& b) {
    const Real3 along = minus(b, a), away = minus(x, a);
    const double length = dot(along, along);
    const double t = length > 0 ? std::clamp(dot(away, along) / length, 0.0, 1.0) : 0;
    const Real3 rest{away[0] - t * along[0], away[1] - t * along[1], away[2] - t * along[2]};
    return dot(rest, rest);
}

Real3 along(const Real3& a, double t, const Real3& by) {
    return {a[0] + t * by[0], a[1] + t * by[1], a[2] + t * by[2]};
}

}  // namespace

double squared_distance(const Real3& x, const Facet& e) {
    double least = to_segment(x, e[0], e[1]);
    if (e[2] == e[1]) return least;
    least = std::min({least, to_segment(x, e[1], e[2]), to_segment(x, e[2], e[0])});
    const Real3 normal = cross(minus(e[1], e[0]), minus(e[2], e[0]));
    const double size = dot(normal, normal);
    if (size == 0) return least;
    // Above the triangle, where x lies on the inner side of all edges.
    for (std::size_t n = 0; n < 3; ++n)
        if (dot(cross(minus(e[(n + 1) % 3], e[n]), minus(x, e[n])), normal) < 0) return least;
    const double height = dot(minus(x, e[0]), normal);
    return std::min(least, height * height / size);
}

Real3 nearest_point(const Real3& x, const Facet& e) {
    const auto on_segment = [&](const Real3& a, const Real3& b) {
        const Real3 u = minus(b, a);
        const double length = dot(u, u);
        return length == 0 ? a : along(a, std::clamp(dot(minus(x, a), u) / length, 0.0, 1.0), u);
    };
    const auto away = [&](const Real3& p) { return dot(minus(x, p), minus(x, p)); };
    const Real3 u = minus(e[1], e[0]), v = minus(e[2], e[0]), w = minus(x, e[0]);
    const double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), uw = dot(u, w), vw = dot(v, w);
    const double det = uu * vv - uv * uv;
    if (det > 1e-14 * uu * vv) {
        const double s = (uw * vv - vw * uv) / det, t = (vw * uu - uw * uv) / det;
        if (s >= 0 && t >= 0 && s + t <= 1) return along(along(e[0], s, u), t, v);
    }
    Real3 best = on_segment(e[0], e[1]);
    for (const Real3& p : {on_segment(e[1], e[2]), on_segment(e[2], e[0])})
        if (away(p) < away(best)) best = p;
    return best;
}

}  // namespace strata::geometry
