#include "methods/overset/surface.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace strata::overset {

namespace {

Real3 operator-(const Real3& a, const Real3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Real3& a, const Real3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Real3 along(const Real3& a, double t, const Real3& by) {
    return {a[0] + t * by[0], a[1] + t * by[1], a[2] + t * by[2]};
}

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
    const Real3 u = e[1] - e[0], v = e[2] - e[0], off = x - e[0];
    const double det = u[b] * v[c] - u[c] * v[b];
    if (det == 0) return false;
    const double s = (off[b] * v[c] - off[c] * v[b]) / det, t = (u[b] * off[c] - u[c] * off[b]) / det;
    at = e[0][axis] + s * u[axis] + t * v[axis];
    return true;
}

/// C. Ericson, Real-Time Collision Detection (2005), 5.1.5, with the degenerate cases of a segment.
Real3 nearest_of(const Facet& e, const Real3& x) {
    const auto on_segment = [&](const Real3& a, const Real3& b) {
        const Real3 u = b - a;
        const double length = dot(u, u);
        return length == 0 ? a : along(a, std::clamp(dot(x - a, u) / length, 0.0, 1.0), u);
    };
    const Real3 u = e[1] - e[0], v = e[2] - e[0], w = x - e[0];
    const double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), uw = dot(u, w), vw = dot(v, w);
    const double det = uu * vv - uv * uv;
    if (det > 1e-14 * uu * vv) {
        const double s = (uw * vv - vw * uv) / det, t = (vw * uu - uw * uv) / det;
        if (s >= 0 && t >= 0 && s + t <= 1) return along(along(e[0], s, u), t, v);
    }
    Real3 best = on_segment(e[0], e[1]);
    for (const auto& [a, b] : {std::pair{1, 2}, {2, 0}}) {
        const Real3 p = on_segment(e[static_cast<std::size_t>(a)], e[static_cast<std::size_t>(b)]);
        if (dot(x - p, x - p) < dot(x - best, x - best)) best = p;
    }
    return best;
}

}  // namespace

void add_facets(int dimensions, const Box& cells, const Face& face, const FieldView<const double>& nodes,
                std::vector<Facet>& elements) {
    const auto a = static_cast<std::size_t>(face.axis);
    const auto node = [&](const Int3& at) {
        Real3 x{};
        for (int d = 0; d < dimensions; ++d) x[static_cast<std::size_t>(d)] = nodes(at[0], at[1], at[2], d);
        return x;
    };
    Box faces = cells;
    faces.lo[a] = face.upper ? cells.hi[a] : cells.lo[a];
    faces.hi[a] = faces.lo[a] + 1;
    if (dimensions == 2) {
        const std::size_t b = 1 - a;
        graph::for_each(faces, [&](int i, int j, int) {
            Int3 next{i, j, 0};
            ++next[b];
            const Real3 p = node({i, j, 0}), q = node(next);
            if (p != q) elements.push_back({p, q, q});
        });
        return;
    }
    const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
    graph::for_each(faces, [&](int i, int j, int k) {
        Int3 at{i, j, k};
        const Real3 p00 = node(at);
        ++at[b];
        const Real3 p10 = node(at);
        ++at[c];
        const Real3 p11 = node(at);
        --at[b];
        const Real3 p01 = node(at);
        elements.push_back({p00, p10, p11});
        elements.push_back({p00, p11, p01});
    });
}

Surface::Surface(int dimensions, std::vector<Facet> elements)
    : dimensions_(dimensions), elements_(std::move(elements)) {
    std::vector<Bounds> boxes(elements_.size());
    for (std::size_t n = 0; n < boxes.size(); ++n)
        for (const Real3& x : elements_[n]) boxes[n].add(x);
    tree_ = BoxTree(std::move(boxes));
}

unsigned Surface::rays(const Real3& x) const {
    unsigned odd = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimensions_); ++axis) {
        Bounds line;
        line.add(x);
        line.lo[axis] = -Bounds::kNone, line.hi[axis] = Bounds::kNone;
        tree_.meeting(line, [&](std::int32_t n) {
            const Facet& e = elements_[static_cast<std::size_t>(n)];
            double at;
            if (dimensions_ == 2 ? crosses_segment(e, x, axis, at) : crosses_triangle(e, x, axis, at))
                odd ^= 1U << (2 * axis + (at > x[axis] ? 0 : 1));
        });
    }
    return odd;
}

Real3 Surface::nearest(const Real3& x) const {
    Real3 best = x;
    double least = Bounds::kNone;
    for (const Facet& e : elements_) {
        const Real3 p = nearest_of(e, x);
        const double d = dot(x - p, x - p);
        if (d < least) least = d, best = p;
    }
    return best;
}

bool inside(unsigned rays, int dimensions) { return std::popcount(rays) > dimensions; }

namespace {
constexpr int sides_of(int dimensions) { return dimensions == 2 ? 64 : 24; }
constexpr int kAround = 3;
}  // namespace

std::size_t HoleMap::cells(int dimensions) {
    const auto n = static_cast<std::size_t>(sides_of(dimensions));
    return dimensions == 2 ? n * n : n * n * n;
}

HoleMap::HoleMap(int dimensions, const Bounds& of_walls)
    : dimensions_(dimensions), sides_(sides_of(dimensions)) {
    double largest = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d)
        largest = std::max(largest, of_walls.hi[d] - of_walls.lo[d]);
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
        const double extent = std::max(of_walls.hi[d] - of_walls.lo[d], 1e-6 * largest);
        size_[d] = extent / (sides_ - 2 * kAround);
        first_[d] = of_walls.lo[d] - kAround * size_[d];
    }
}

int HoleMap::line(double x, std::size_t axis, double by) const {
    return static_cast<int>(std::clamp(std::floor((x - first_[axis]) / size_[axis] + by), 0.0, sides_ - 1.0));
}

std::size_t HoleMap::number(const Int3& at) const {
    const auto n = static_cast<std::size_t>(sides_);
    return (static_cast<std::size_t>(at[2]) * n + static_cast<std::size_t>(at[1])) * n +
           static_cast<std::size_t>(at[0]);
}

void HoleMap::fill(const std::vector<bool>& marked) {
    cells_.assign(cells(dimensions_), Cell::inside);
    for (std::size_t n = 0; n < cells_.size(); ++n)
        if (marked[n]) cells_[n] = Cell::wall;
    std::vector<Int3> open{{0, 0, 0}};
    cells_[0] = Cell::outside;
    while (!open.empty()) {
        const Int3 at = open.back();
        open.pop_back();
        for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions_); ++a)
            for (const int by : {-1, 1}) {
                Int3 next = at;
                next[a] += by;
                if (next[a] < 0 || next[a] >= sides_ || cells_[number(next)] != Cell::inside) continue;
                cells_[number(next)] = Cell::outside;
                open.push_back(next);
            }
    }
}

HoleMap::Cell HoleMap::at(const Real3& x) const {
    Int3 cell{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions_); ++d) {
        const double c = (x[d] - first_[d]) / size_[d];
        if (!(c >= 0 && c < sides_)) return Cell::outside;
        cell[d] = static_cast<int>(c);
    }
    return cells_[number(cell)];
}

}  // namespace strata::overset
