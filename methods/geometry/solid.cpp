#include "methods/geometry/solid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/base/error.hpp"

namespace strata::geometry {

namespace {

constexpr double kFarthest = 1e100;  // of corners: their products are numbers, too

std::string text_of(const Real3& x) { return fmt::format("({}, {}, {})", x[0], x[1], x[2]); }

}  // namespace

Solid::Solid(std::vector<Facet> triangles, const std::string& name) : triangles_(std::move(triangles)) {
    if (triangles_.empty()) throw Error("the STL file has no triangles").at(name);
    for (std::size_t t = 0; t < triangles_.size(); ++t)
        for (const Real3& x : triangles_[t]) {
            for (const double at : x) {
                if (!std::isfinite(at))
                    throw Error(fmt::format("a corner of triangle {} is no number", t + 1))
                        .at(name)
                        .given(text_of(x));
                if (std::abs(at) > kFarthest)
                    throw Error(fmt::format("a corner of triangle {} lies too far away", t + 1))
                        .at(name)
                        .given(text_of(x))
                        .allowed(fmt::format("coordinates from -{0} to {0}", kFarthest));
            }
            bounds_.add(x);
        }
    check_closed(name);
    make_columns();
}

/// Each edge must be one of an even number of triangles.
void Solid::check_closed(const std::string& name) const {
    // By the number of a triangle and of its edge: a table of the corners themselves would take several times
    // the memory of the file.
    const auto ends_of = [&](std::size_t edge) {
        const Facet& t = triangles_[edge / 3];
        const Real3 &a = t[edge % 3], &b = t[(edge % 3 + 1) % 3];
        return b < a ? std::tie(b, a) : std::tie(a, b);
    };
    std::vector<std::size_t> edges;
    edges.reserve(3 * triangles_.size());
    for (std::size_t edge = 0; edge < 3 * triangles_.size(); ++edge)
        if (const auto [a, b] = ends_of(edge); a != b) edges.push_back(edge);  // not of one without area
    std::sort(edges.begin(), edges.end(), [&](std::size_t one, std::size_t other) {
        const auto a = ends_of(one), b = ends_of(other);
        return a != b ? a < b : one < other;
    });
    for (std::size_t from = 0, to = 0; from < edges.size(); from = to) {
        const auto [a, b] = ends_of(edges[from]);
        while (to < edges.size() && ends_of(edges[to]) == std::tie(a, b)) ++to;
        const std::size_t count = to - from;
        if (count % 2 != 0)
            throw Error(fmt::format("the surface is not closed at triangle {}", edges[to - 1] / 3 + 1))
                .at(name)
                .given(fmt::format("its edge from {} to {} belongs to {} triangle{}", text_of(a), text_of(b),
                                   count, count == 1 ? "" : "s"))
                .allowed("two triangles at each edge, with the same corners to the last digit")
                .remedy("close the surface (a repair of a mesh tool)");
    }
}

int Solid::column(double x, int axis) const {
    if (counts_[axis] == 1) return 0;  // also where the surface has no extent
    const auto d = static_cast<std::size_t>(axis + 1);
    const double share = (x - bounds_.lo[d]) / (bounds_.hi[d] - bounds_.lo[d]) * counts_[axis];
    return std::clamp(static_cast<int>(share), 0, counts_[axis] - 1);
}

Solid::Columns Solid::columns_of(const Facet& t) const {
    const Bounds box = bounds_of(t);
    return {{column(box.lo[1], 0), column(box.lo[2], 1)}, {column(box.hi[1], 0), column(box.hi[2], 1)}};
}

/// As many columns as leave a few triangles in each. Triangles that lie across all of them would be in all:
/// then fewer, so that the lists stay as long as the triangles themselves.
void Solid::make_columns() {
    constexpr std::int64_t most_of_each = 16;  // columns, on the average
    const auto count = static_cast<std::int64_t>(triangles_.size());
    if (count > std::numeric_limits<std::int32_t>::max() / most_of_each)
        throw Error("a surface has too many triangles")
            .given(fmt::format("{}", count))
            .allowed(fmt::format("{}", std::numeric_limits<std::int32_t>::max() / most_of_each));
    std::int64_t members = 0;
    for (int n = std::clamp(static_cast<int>(std::sqrt(static_cast<double>(count))), 1, 512);; n /= 2) {
        for (int axis = 0; axis < 2; ++axis) {
            const auto d = static_cast<std::size_t>(axis + 1);
            counts_[axis] = bounds_.hi[d] > bounds_.lo[d] ? n : 1;
        }
        members = 0;
        for (const Facet& t : triangles_) {
            const Columns of = columns_of(t);
            members += (std::int64_t{1} + of.high[0] - of.low[0]) * (1 + of.high[1] - of.low[1]);
        }
        if (members <= most_of_each * count || n == 1) break;
    }
    // How many each column has, then where it begins, then its triangles in their order.
    first_.assign(static_cast<std::size_t>(counts_[0]) * static_cast<std::size_t>(counts_[1]) + 1, 0);
    const auto each = [&](const auto& visit) {
        for (std::size_t t = 0; t < triangles_.size(); ++t) {
            const Columns of = columns_of(triangles_[t]);
            for (int j = of.low[1]; j <= of.high[1]; ++j)
                for (int i = of.low[0]; i <= of.high[0]; ++i)
                    visit(static_cast<std::size_t>(j * counts_[0] + i), static_cast<std::int32_t>(t));
        }
    };
    each([&](std::size_t c, std::int32_t) { ++first_[c + 1]; });
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    members_.resize(static_cast<std::size_t>(members));
    std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
    each([&](std::size_t c, std::int32_t t) { members_[static_cast<std::size_t>(next[c]++)] = t; });
}

bool Solid::contains(const Real3& x) const {
    if (!bounds_.contains(x)) return false;
    const auto c = static_cast<std::size_t>(column(x[2], 1)) * counts_[0] + column(x[1], 0);
    bool inside = false;
    for (std::int32_t m = first_[c]; m < first_[c + 1]; ++m) {
        const Facet& t = triangles_[static_cast<std::size_t>(members_[static_cast<std::size_t>(m)])];
        // In the (y, z) plane: the ray is in the triangle if a line from it along y crosses an odd number of
        // the triangle's edges; an edge counts its lower end and not its upper one, and is looked at from its
        // lower to its upper end, so that both triangles at it see the same.
        bool in = false;
        for (std::size_t p = 0; p < 3; ++p) {
            const Real3 *a = &t[p], *b = &t[(p + 1) % 3];
            if (std::pair((*b)[2], *b) < std::pair((*a)[2], *a)) std::swap(a, b);
            if (!((*a)[2] <= x[2] && x[2] < (*b)[2])) continue;
            const double at = (*a)[1] + (x[2] - (*a)[2]) / ((*b)[2] - (*a)[2]) * ((*b)[1] - (*a)[1]);
            if (x[1] < at) in = !in;
        }
        if (!in) continue;
        // Where the ray meets the triangle's plane.
        const Real3 normal = cross(minus(t[1], t[0]), minus(t[2], t[0]));
        if (normal[0] == 0) continue;  // along the ray: its neighbours decide
        const double at = t[0][0] - (normal[1] * (x[1] - t[0][1]) + normal[2] * (x[2] - t[0][2])) / normal[0];
        if (x[0] < at) inside = !inside;
    }
    return inside;
}

}  // namespace strata::geometry
