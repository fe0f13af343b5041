#include "solvers/mpm/stl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/named_file.hpp"

namespace strata::mpm {

namespace fs = std::filesystem;

namespace {

using Point = Solid::Point;
using Triangle = Solid::Triangle;

constexpr std::size_t kHead = 84, kFacet = 50;  // bytes of a binary file: head and count, each triangle
constexpr double kFarthest = 1e100;             // of corners: their products are numbers, too

Error broken(const std::string& file, const std::string& message) {
    Error error(message);
    error.at(file);
    return error;
}

std::vector<Triangle> read_binary(const std::string& bytes, const std::string& file) {
    std::uint32_t count = 0;
    std::memcpy(&count, bytes.data() + kHead - 4, 4);
    if (bytes.size() < kHead + count * kFacet)
        throw broken(file,
                     fmt::format("the STL file ends in triangle {}", (bytes.size() - kHead) / kFacet + 1))
            .given(fmt::format("{} bytes for {} triangles", bytes.size(), count))
            .allowed(fmt::format("{} bytes", kHead + count * kFacet));
    std::vector<Triangle> found(count);
    for (std::size_t t = 0; t < count; ++t)
        for (std::size_t p = 0; p < 3; ++p)
            for (std::size_t d = 0; d < 3; ++d) {
                float x = 0;  // after the normal, which follows from the points
                std::memcpy(&x, bytes.data() + kHead + t * kFacet + 12 + 12 * p + 4 * d, 4);
                found[t][p][d] = x;
            }
    return found;
}

std::vector<Triangle> read_ascii(const std::string& text, const std::string& file) {
    std::istringstream lines(text);
    std::vector<Triangle> found;
    std::vector<Point> points;
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        std::istringstream words(line);
        std::string word;
        if (!(words >> word)) continue;
        const auto at = fmt::format("{}:{} (triangle {})", file, number, found.size() + 1);
        if (word == "vertex") {
            Point x{};
            std::string more;
            if (!(words >> x[0] >> x[1] >> x[2]) || (words >> more) || points.size() == 3)
                throw broken(at, "no corner of a triangle").given(line).allowed("vertex X Y Z, three times");
            points.push_back(x);
        } else if (word == "endfacet") {
            if (points.size() != 3)
                throw broken(at, "a triangle needs three corners").given(fmt::format("{}", points.size()));
            found.push_back({points[0], points[1], points[2]});
            points.clear();
        } else if (word != "facet" && word != "outer" && word != "endloop" && word != "solid" &&
                   word != "endsolid") {
            throw broken(at, "the text is no STL")
                .given(line)
                .allowed("facet, outer loop, vertex, endloop, endfacet");
        }
    }
    if (!points.empty())
        throw broken(file, fmt::format("the STL file ends in triangle {}", found.size() + 1));
    return found;
}

std::string text_of(const Point& x) { return fmt::format("({}, {}, {})", x[0], x[1], x[2]); }

}  // namespace

Solid Solid::read(const fs::path& path, const Point& place, double scale) {
    const std::string file = path.string();
    const std::string bytes = read_named(path, "the STL file");
    std::uint32_t count = 0;
    if (bytes.size() >= kHead) std::memcpy(&count, bytes.data() + kHead - 4, 4);
    const bool exact = bytes.size() >= kHead && bytes.size() == kHead + count * kFacet;
    const bool text = !exact && bytes.compare(0, 5, "solid") == 0 && bytes.find('\0') == std::string::npos;
    if (!text && bytes.size() < kHead)
        throw broken(file, "the file is no STL: neither text that begins with \"solid\" nor a binary head")
            .given(fmt::format("{} bytes", bytes.size()));
    std::vector<Triangle> triangles = text ? read_ascii(bytes, file) : read_binary(bytes, file);
    for (Triangle& t : triangles)
        for (Point& x : t)
            for (std::size_t d = 0; d < 3; ++d) x[d] = place[d] + scale * x[d];
    return {std::move(triangles), file};
}

Solid::Solid(std::vector<Triangle> triangles, const std::string& name) : triangles_(std::move(triangles)) {
    if (triangles_.empty()) throw broken(name, "the STL file has no triangles");
    low_ = high_ = triangles_[0][0];
    for (std::size_t t = 0; t < triangles_.size(); ++t)
        for (const Point& x : triangles_[t])
            for (std::size_t d = 0; d < 3; ++d) {
                if (!std::isfinite(x[d]))
                    throw broken(name, fmt::format("a corner of triangle {} is no number", t + 1))
                        .given(text_of(x));
                if (std::abs(x[d]) > kFarthest)
                    throw broken(name, fmt::format("a corner of triangle {} lies too far away", t + 1))
                        .given(text_of(x))
                        .allowed(fmt::format("coordinates from -{0} to {0}", kFarthest));
                low_[d] = std::min(low_[d], x[d]), high_[d] = std::max(high_[d], x[d]);
            }
    check_closed(name);
    make_columns();
}

/// Each edge must be one of an even number of triangles.
void Solid::check_closed(const std::string& name) const {
    // By the number of a triangle and of its edge: a table of the corners themselves would take several times
    // the memory of the file.
    const auto ends_of = [&](std::size_t edge) {
        const Triangle& t = triangles_[edge / 3];
        const Point &a = t[edge % 3], &b = t[(edge % 3 + 1) % 3];
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
            throw broken(name, fmt::format("the surface is not closed at triangle {}", edges[to - 1] / 3 + 1))
                .given(fmt::format("its edge from {} to {} belongs to {} triangle{}", text_of(a), text_of(b),
                                   count, count == 1 ? "" : "s"))
                .allowed("two triangles at each edge, with the same corners to the last digit")
                .remedy("close the surface (a repair of a mesh tool)");
    }
}

int Solid::column(double x, int axis) const {
    if (counts_[axis] == 1) return 0;  // also where the surface has no extent
    const auto d = static_cast<std::size_t>(axis + 1);
    const double share = (x - low_[d]) / (high_[d] - low_[d]) * counts_[axis];
    return std::clamp(static_cast<int>(share), 0, counts_[axis] - 1);
}

Solid::Columns Solid::columns_of(const Triangle& t) const {
    Columns found{};
    for (int axis = 0; axis < 2; ++axis) {
        const auto d = static_cast<std::size_t>(axis + 1);
        found.low[axis] = column(std::min({t[0][d], t[1][d], t[2][d]}), axis);
        found.high[axis] = column(std::max({t[0][d], t[1][d], t[2][d]}), axis);
    }
    return found;
}

/// As many columns as leave a few triangles in each. Triangles that lie across all of them would be in all:
/// then fewer, so that the lists stay as long as the triangles themselves.
void Solid::make_columns() {
    constexpr std::int64_t most_of_each = 16;  // columns, on the average
    const auto count = static_cast<std::int64_t>(triangles_.size());
    if (count > std::numeric_limits<std::int32_t>::max() / most_of_each)
        throw broken("", "a surface has too many triangles")
            .given(fmt::format("{}", count))
            .allowed(fmt::format("{}", std::numeric_limits<std::int32_t>::max() / most_of_each));
    std::int64_t members = 0;
    for (int n = std::clamp(static_cast<int>(std::sqrt(static_cast<double>(count))), 1, 512);; n /= 2) {
        for (int axis = 0; axis < 2; ++axis) {
            const auto d = static_cast<std::size_t>(axis + 1);
            counts_[axis] = high_[d] > low_[d] ? n : 1;
        }
        members = 0;
        for (const Triangle& t : triangles_) {
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

bool Solid::contains(const Point& x) const {
    for (std::size_t d = 0; d < 3; ++d)
        if (!(x[d] >= low_[d] && x[d] <= high_[d])) return false;
    const auto c = static_cast<std::size_t>(column(x[2], 1)) * counts_[0] + column(x[1], 0);
    bool inside = false;
    for (std::int32_t m = first_[c]; m < first_[c + 1]; ++m) {
        const Triangle& t = triangles_[static_cast<std::size_t>(members_[static_cast<std::size_t>(m)])];
        // In the (y, z) plane: the ray is in the triangle if a line from it along y crosses an odd number of
        // the triangle's edges; an edge counts its lower end and not its upper one, and is looked at from its
        // lower to its upper end, so that both triangles at it see the same.
        bool in = false;
        for (std::size_t p = 0; p < 3; ++p) {
            const Point *a = &t[p], *b = &t[(p + 1) % 3];
            if (std::pair((*b)[2], *b) < std::pair((*a)[2], *a)) std::swap(a, b);
            if (!((*a)[2] <= x[2] && x[2] < (*b)[2])) continue;
            const double at = (*a)[1] + (x[2] - (*a)[2]) / ((*b)[2] - (*a)[2]) * ((*b)[1] - (*a)[1]);
            if (x[1] < at) in = !in;
        }
        if (!in) continue;
        // Where the ray meets the triangle's plane.
        Point u{}, w{};
        for (std::size_t d = 0; d < 3; ++d) u[d] = t[1][d] - t[0][d], w[d] = t[2][d] - t[0][d];
        const double nx = u[1] * w[2] - u[2] * w[1], ny = u[2] * w[0] - u[0] * w[2],
                     nz = u[0] * w[1] - u[1] * w[0];
        if (nx == 0) continue;  // along the ray: its neighbours decide
        const double at = t[0][0] - (ny * (x[1] - t[0][1]) + nz * (x[2] - t[0][2])) / nx;
        if (x[0] < at) inside = !inside;
    }
    return inside;
}

}  // namespace strata::mpm
