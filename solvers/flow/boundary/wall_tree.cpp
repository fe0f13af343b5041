#include "solvers/flow/boundary/wall_tree.hpp"

#include <algorithm>
#include <utility>

namespace strata::flow {

namespace {

Real3 minus(const Real3& a, const Real3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Real3& a, const Real3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Real3 cross(const Real3& a, const Real3& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double to_segment(const Real3& x, const Real3& a, const Real3& b) {
    const Real3 along = minus(b, a), away = minus(x, a);
    const double length = dot(along, along);
    const double t = length > 0 ? std::clamp(dot(away, along) / length, 0.0, 1.0) : 0;
    const Real3 rest{away[0] - t * along[0], away[1] - t * along[1], away[2] - t * along[2]};
    return dot(rest, rest);
}

constexpr std::int32_t kLeaf = 4;

/// The share of its longer diagonal by which a face may be warped and still is two triangles.
constexpr double kFlat = 1e-10;

}  // namespace

double squared_distance(const Real3& x, const WallElement& e) {
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

void WallBox::add(const Real3& x) {
    for (std::size_t d = 0; d < 3; ++d) lo[d] = std::min(lo[d], x[d]), hi[d] = std::max(hi[d], x[d]);
}

double WallBox::squared_distance(const Real3& x) const {
    double sum = 0;
    for (std::size_t d = 0; d < 3; ++d) {
        const double out = std::max({lo[d] - x[d], 0.0, x[d] - hi[d]});
        sum += out * out;
    }
    return sum;
}

WallTree::WallTree(std::vector<WallElement> elements) : elements_(std::move(elements)) {
    for (const WallElement& element : elements_)
        for (const Real3& corner : element) box_.add(corner);
    if (!elements_.empty()) build(0, static_cast<std::int32_t>(elements_.size()));
}

void WallTree::build(std::int32_t begin, std::int32_t end) {
    const std::size_t number = nodes_.size();
    nodes_.push_back({{}, begin, end});
    WallBox middles;
    const auto middle = [](const WallElement& e, std::size_t d) { return e[0][d] + e[1][d] + e[2][d]; };
    for (std::int32_t n = begin; n < end; ++n) {
        const WallElement& element = elements_[static_cast<std::size_t>(n)];
        for (const Real3& corner : element) nodes_[number].box.add(corner);
        middles.add({middle(element, 0), middle(element, 1), middle(element, 2)});
    }
    if (end - begin <= kLeaf) return;
    const Real3 size = minus(middles.hi, middles.lo);
    const auto axis = static_cast<std::size_t>(std::max_element(size.begin(), size.end()) - size.begin());
    const std::int32_t half = begin + (end - begin) / 2;
    std::nth_element(
        elements_.begin() + begin, elements_.begin() + half, elements_.begin() + end,
        [&](const WallElement& a, const WallElement& b) { return middle(a, axis) < middle(b, axis); });
    nodes_[number].end = -1;
    build(begin, half);
    nodes_[number].begin = static_cast<std::int32_t>(nodes_.size());
    build(half, end);
}

double WallTree::nearest(const Real3& x, double bound) const {
    if (nodes_.empty()) return bound;
    struct Waiting {
        std::size_t node;
        double least;
    };
    std::array<Waiting, 64> waiting;  // halves of at most 2^31 elements
    std::size_t count = 0;
    waiting[count++] = {0, nodes_[0].box.squared_distance(x)};
    while (count > 0) {
        const auto [number, least] = waiting[--count];
        if (least >= bound) continue;
        const Node& node = nodes_[number];
        if (node.end >= 0) {
            for (std::int32_t n = node.begin; n < node.end; ++n)
                bound = std::min(bound,
                                 strata::flow::squared_distance(x, elements_[static_cast<std::size_t>(n)]));
            continue;
        }
        Waiting near{number + 1, nodes_[number + 1].box.squared_distance(x)};
        Waiting far{static_cast<std::size_t>(node.begin),
                    nodes_[static_cast<std::size_t>(node.begin)].box.squared_distance(x)};
        if (far.least < near.least) std::swap(near, far);
        waiting[count++] = far, waiting[count++] = near;
    }
    return bound;
}

std::size_t WallTree::bytes() const {
    return sizeof *this + elements_.capacity() * sizeof(WallElement) + nodes_.capacity() * sizeof(Node);
}

template <int Dim>
void add_wall(const PatchFace& face, const FieldView<const double>& nodes,
              std::vector<WallElement>& elements) {
    const std::size_t b = face.axis() == 0 ? 1 : 0, c = face.axis() == 2 ? 1 : 2;
    graph::for_each(PatchFace(face.cells, face.face).first(), [&](int i, int j, int k) {
        const auto corner = [&](int along_b, int along_c) {
            Int3 at{i, j, k};
            if (face.face.upper) ++at[face.axis()];
            at[b] += along_b;
            if (Dim == 3) at[c] += along_c;
            Real3 x{};
            for (int d = 0; d < Dim; ++d) x[static_cast<std::size_t>(d)] = nodes(at[0], at[1], at[2], d);
            return x;
        };
        const Real3 p00 = corner(0, 0), p10 = corner(1, 0);
        if constexpr (Dim == 2) {
            elements.push_back({p00, p10, p10});
        } else {
            const Real3 p01 = corner(0, 1), p11 = corner(1, 1);
            const Real3 up = minus(p11, p00), down = minus(p01, p10);
            // Corners that lie in no plane: cells on such a face are where its middle is, and the first ones
            // may be a thousandth of its warp high.
            Real3 middle, warp;
            for (std::size_t d = 0; d < 3; ++d) {
                middle[d] = 0.25 * (p00[d] + p10[d] + p01[d] + p11[d]);
                warp[d] = p00[d] + p11[d] - p10[d] - p01[d];
            }
            const Real3 normal = cross(up, down);
            const double out = dot(warp, normal), size = std::max(dot(up, up), dot(down, down));
            if (out * out > kFlat * kFlat * size * dot(normal, normal)) {
                const std::array<Real3, 4> around{p00, p10, p11, p01};
                for (std::size_t n = 0; n < 4; ++n)
                    elements.push_back({around[n], around[(n + 1) % 4], middle});
            } else if (dot(up, up) <= dot(down, down)) {
                elements.push_back({p00, p10, p11});
                elements.push_back({p00, p11, p01});
            } else {
                elements.push_back({p00, p10, p01});
                elements.push_back({p10, p11, p01});
            }
        }
    });
}

template void add_wall<2>(const PatchFace&, const FieldView<const double>&, std::vector<WallElement>&);
template void add_wall<3>(const PatchFace&, const FieldView<const double>&, std::vector<WallElement>&);

}  // namespace strata::flow
