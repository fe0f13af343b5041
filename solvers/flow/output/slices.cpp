#include "solvers/flow/output/slices.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "core/base/error.hpp"

namespace strata::flow {

using graph::Box;
using graph::FieldView;
using graph::Int3;
using graph::Real3;

Slice slice_of(const std::string& text, int dimensions) {
    const auto refuse = [&](const std::string& why) {
        return Error(why)
            .given('"' + text + '"')
            .allowed(dimensions == 2
                         ? "\"x = 0.5\", \"y = 0\"; \"1: i = 5\" (zone, node, from 1); \"Q = 0.01\""
                         : "\"x = 0.5\" (or y, z); \"1: k = 5\" (zone, node, from 1); "
                           "\"azimuth = 60\"; \"Q = 0.01\"");
    };
    Slice slice;
    char axis = 0, rest = 0;
    int zone = 0, node = 0;
    if (std::sscanf(text.c_str(), " %d : %c = %d %c", &zone, &axis, &node, &rest) == 3) {
        slice.kind = Slice::Kind::nodes;
        slice.axis = axis - 'i', slice.zone = zone - 1, slice.node = node - 1;
        if (zone < 1 || node < 1) throw refuse("zones and nodes of a slice are counted from 1");
        slice.name = fmt::format("zone-{}-{}-{}", zone, axis, node);
    } else if (dimensions == 3 && std::sscanf(text.c_str(), " azimuth = %lf %c", &slice.place, &rest) == 1) {
        slice.kind = Slice::Kind::azimuth;
        slice.name = fmt::format("azimuth-{:g}", slice.place);
    } else if (std::sscanf(text.c_str(), " Q = %lf %c", &slice.place, &rest) == 1) {
        slice.kind = Slice::Kind::criterion;
        slice.name = fmt::format("q-{:g}", slice.place);
    } else if (std::sscanf(text.c_str(), " %c = %lf %c", &axis, &slice.place, &rest) == 2) {
        slice.axis = axis - 'x';
        slice.name = fmt::format("{}-{:g}", axis, slice.place);
    } else {
        throw refuse("this is no slice");
    }
    if (slice.axis < 0 || slice.axis >= dimensions || !std::isfinite(slice.place))
        throw refuse("a slice has an axis of the grid");
    return slice;
}

namespace {

/// A place and what is there.
struct Point {
    Real3 x{};
    std::array<double, 9> q{};  // density, momentum, energy; vorticity, Q
};
Point between(const Point& a, const Point& b, double share) {
    Point p;
    for (std::size_t d = 0; d < 3; ++d) p.x[d] = a.x[d] + share * (b.x[d] - a.x[d]);
    for (std::size_t c = 0; c < 9; ++c) p.q[c] = a.q[c] + share * (b.q[c] - a.q[c]);
    return p;
}
double size_of(const Point& a, const Point& b) {
    return std::hypot(a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]);
}
double size_of(const Point& a, const Point& b, const Point& c) {
    Real3 u{}, v{};
    for (std::size_t d = 0; d < 3; ++d) u[d] = b.x[d] - a.x[d], v[d] = c.x[d] - a.x[d];
    return 0.5 * std::hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
}

/// Sums over the simplices of a piece.
struct Piece {
    double size = 0;
    Point sum;
    template <class... Points>
    void add(const Points&... points) {
        const double own = size_of(points...);
        size += own;
        constexpr double share = 1.0 / sizeof...(points);
        for (std::size_t d = 0; d < 3; ++d) sum.x[d] += own * share * (points.x[d] + ...);
        for (std::size_t c = 0; c < 9; ++c) sum.q[c] += own * share * (points.q[c] + ...);
    }
    [[nodiscard]] SliceRow row(const Int3& cell, double gamma) const {
        SliceRow row;
        row.size = size, row.cell = cell;
        std::array<double, 9> q{};
        for (std::size_t d = 0; d < 3; ++d) row.x[d] = sum.x[d] / size;
        for (std::size_t c = 0; c < 9; ++c) q[c] = sum.q[c] / size;
        double squares = 0;
        row.values[0] = q[0];
        for (std::size_t d = 1; d < 4; ++d) row.values[d] = q[d] / q[0], squares += q[d] * q[d];
        row.values[4] = (gamma - 1) * (q[4] - 0.5 * squares / q[0]);
        for (std::size_t c = 5; c < 9; ++c) row.values[c] = q[c];
        return row;
    }
};

template <int Dim>
Point point_at(const FieldView<const double>& nodes, const NodeValues& values, const NodeValues& vortices,
               const Int3& at) {
    Point p;
    for (std::size_t d = 0; d < Dim; ++d)
        p.x[d] = nodes(at[0], at[1], at[2], static_cast<int>(d)),
        p.q[d + 1] = values(at[0], at[1], at[2], static_cast<int>(d) + 1);
    p.q[0] = values(at[0], at[1], at[2], 0), p.q[4] = values(at[0], at[1], at[2], Dim + 1);
    if (vortices.box().empty()) return p;
    constexpr int kTurns = Dim == 3 ? 3 : 1;  // components of the vorticity, of which a plane's is along z
    for (int c = 0; c < kTurns; ++c)
        p.q[static_cast<std::size_t>(8 - kTurns + c)] = vortices(at[0], at[1], at[2], c);
    p.q[8] = vortices(at[0], at[1], at[2], kTurns);
    return p;
}

/// How far nodes lie above the surface; with `sees`, whether a place belongs to it.
class Above {
  public:
    explicit Above(const Slice& slice) : slice_(slice) {
        const double angle = slice.place * std::numbers::pi / 180;
        cosine_ = std::cos(angle), sine_ = std::sin(angle);
    }
    [[nodiscard]] double operator()(const Point& at) const {
        switch (slice_.kind) {
            case Slice::Kind::azimuth:
                return cosine_ * from(at.x, 2) - sine_ * from(at.x, 1);
            case Slice::Kind::criterion:
                return at.q[8] - slice_.place;
            default:
                return at.x[static_cast<std::size_t>(slice_.axis)] - slice_.place;
        }
    }
    [[nodiscard]] bool sees(const Real3& x) const {
        return slice_.kind != Slice::Kind::azimuth || cosine_ * from(x, 1) + sine_ * from(x, 2) >= 0;
    }

  private:
    [[nodiscard]] double from(const Real3& x, int by) const {
        const auto d = static_cast<std::size_t>((slice_.axis + by) % 3);
        return x[d] - slice_.centre[d];
    }
    const Slice& slice_;
    double cosine_ = 1, sine_ = 0;
};

/// The part of a simplex in the plane, whose corners have these distances from it.
template <std::size_t N>
void cut_simplex(const std::array<const Point*, N>& corner, const std::array<double, N>& above,
                 Piece& piece) {
    std::array<std::size_t, N> up{}, down{};
    std::size_t n_up = 0, n_down = 0;
    for (std::size_t n = 0; n < N; ++n) (above[n] >= 0 ? up[n_up++] : down[n_down++]) = n;
    if (n_up == 0 || n_down == 0) return;
    const auto edge = [&](std::size_t u, std::size_t d) {
        const std::size_t a = up[u], b = down[d];
        return between(*corner[a], *corner[b], above[a] / (above[a] - above[b]));
    };
    if constexpr (N == 3) {
        if (n_up == 1)
            piece.add(edge(0, 0), edge(0, 1));
        else
            piece.add(edge(0, 0), edge(1, 0));
    } else if (n_up == 2) {
        const Point a = edge(0, 0), b = edge(0, 1), c = edge(1, 1), d = edge(1, 0);
        piece.add(a, b, c);
        piece.add(a, c, d);
    } else if (n_up == 1) {
        piece.add(edge(0, 0), edge(0, 1), edge(0, 2));
    } else {
        piece.add(edge(0, 0), edge(1, 0), edge(2, 0));
    }
}

}  // namespace

template <int Dim>
std::vector<SliceRow> cut_cells(const Slice& slice, const Box& cells, const FieldView<const double>& nodes,
                                const NodeValues& values, double gamma, const NodeValues& vortices) {
    const Above height(slice);
    constexpr std::size_t kCorners = Dim == 2 ? 4 : 8;
    std::vector<SliceRow> rows;
    graph::for_each(cells, [&](int i, int j, int k) {
        std::array<double, kCorners> above{};
        bool some_above = false, some_below = false;
        const auto corner = [&](std::size_t n) {
            return Int3{i + static_cast<int>(n & 1), j + static_cast<int>(n >> 1 & 1),
                        k + static_cast<int>(n >> 2)};
        };
        std::array<Point, kCorners> points;
        for (std::size_t n = 0; n < kCorners; ++n) {
            points[n] = point_at<Dim>(nodes, values, vortices, corner(n));
            above[n] = height(points[n]);
            (above[n] >= 0 ? some_above : some_below) = true;
        }
        if (!some_above || !some_below) return;
        Piece piece;
        const auto simplex = [&](auto... n) {
            cut_simplex<sizeof...(n)>({&points[static_cast<std::size_t>(n)]...},
                                      {above[static_cast<std::size_t>(n)]...}, piece);
        };
        if constexpr (Dim == 2) {
            simplex(0, 1, 3), simplex(0, 3, 2);
        } else {  // around the diagonal from corner 0 to 7
            simplex(0, 1, 3, 7), simplex(0, 3, 2, 7), simplex(0, 2, 6, 7);
            simplex(0, 6, 4, 7), simplex(0, 4, 5, 7), simplex(0, 5, 1, 7);
        }
        if (!(piece.size > 0)) return;
        SliceRow row = piece.row({i, j, k}, gamma);
        if (height.sees(row.x)) rows.push_back(row);
    });
    return rows;
}

template <int Dim>
std::vector<SliceRow> index_faces(int axis, int node, bool last, const Box& cells,
                                  const FieldView<const double>& nodes, const NodeValues& values,
                                  double gamma, const NodeValues& vortices) {
    const auto a = static_cast<std::size_t>(axis);
    const int cell = last ? node - 1 : node;
    std::vector<SliceRow> rows;
    if (cell < cells.lo[a] || cell >= cells.hi[a]) return rows;
    Box layer = cells;
    layer.lo[a] = cell, layer.hi[a] = cell + 1;
    const std::size_t b = (a + 1) % Dim, c = (a + 2) % Dim;
    graph::for_each(layer, [&](int i, int j, int k) {
        const auto corner = [&](int u, int v) {
            Int3 at{i, j, k};
            at[a] = node, at[b] += u;
            if (Dim == 3) at[c] += v;
            return point_at<Dim>(nodes, values, vortices, at);
        };
        Piece piece;
        if constexpr (Dim == 2) {
            piece.add(corner(0, 0), corner(1, 0));
        } else {
            piece.add(corner(0, 0), corner(1, 0), corner(1, 1));
            piece.add(corner(0, 0), corner(1, 1), corner(0, 1));
        }
        if (piece.size > 0) rows.push_back(piece.row({i, j, k}, gamma));
    });
    return rows;
}

#define STRATA_FLOW_SLICES(Dim)                                                                             \
    template std::vector<SliceRow> cut_cells<Dim>(const Slice&, const Box&, const FieldView<const double>&, \
                                                  const NodeValues&, double, const NodeValues&);            \
    template std::vector<SliceRow> index_faces<Dim>(int, int, bool, const Box&,                             \
                                                    const FieldView<const double>&, const NodeValues&,      \
                                                    double, const NodeValues&);
STRATA_FLOW_SLICES(2)
STRATA_FLOW_SLICES(3)
#undef STRATA_FLOW_SLICES

}  // namespace strata::flow
