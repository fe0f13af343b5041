#include "solvers/flow/output/slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <unordered_map>
#include <utility>

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
    SliceValues q{};       // density, momentum, energy; vorticity, Q
    std::int64_t key = 0;  // the same for the same point of other cells
};
double size_of(const Point& a, const Point& b) {
    return std::hypot(a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]);
}
double size_of(const Point& a, const Point& b, const Point& c) {
    Real3 u{}, v{};
    for (std::size_t d = 0; d < 3; ++d) u[d] = b.x[d] - a.x[d], v[d] = c.x[d] - a.x[d];
    return 0.5 * std::hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
}
/// Density, velocity, pressure; vorticity and Q as they are.
SliceValues primitive(SliceValues q, double gamma) {
    double squares = 0;
    for (std::size_t d = 1; d < 4; ++d) squares += q[d] * q[d], q[d] /= q[0];
    q[4] = (gamma - 1) * (q[4] - 0.5 * squares / q[0]);
    return q;
}

/// Sums over the simplices of a cell's piece.
struct Piece {
    double size = 0;
    Point sum;
    template <class... Points>
    void add(const Points&... points) {
        const double own = size_of(points...);
        size += own;
        constexpr double share = 1.0 / sizeof...(points);
        for (std::size_t d = 0; d < 3; ++d) sum.x[d] += own * share * (points.x[d] + ...);
        for (std::size_t c = 0; c < sum.q.size(); ++c) sum.q[c] += own * share * (points.q[c] + ...);
    }
    [[nodiscard]] SliceRow row(const Int3& cell, double gamma) const {
        SliceRow row;
        row.size = size, row.cell = cell;
        SliceValues q{};
        for (std::size_t d = 0; d < 3; ++d) row.x[d] = sum.x[d] / size;
        for (std::size_t c = 0; c < q.size(); ++c) q[c] = sum.q[c] / size;
        row.values = primitive(q, gamma);
        return row;
    }
};

/// Components of the vorticity, of which a plane's is along z.
template <int Dim>
constexpr int kTurns = Dim == 3 ? 3 : 1;

/// How far nodes lie above the surface, and which cells' pieces belong to it.
template <int Dim>
class Above {
  public:
    Above(const Slice& slice, const FieldView<const double>& nodes, const NodeValues& vortices)
        : slice_(slice), nodes_(nodes), vortices_(vortices) {
        const double angle = slice.place * std::numbers::pi / 180;
        cosine_ = std::cos(angle), sine_ = std::sin(angle);
    }
    [[nodiscard]] double operator()(const Int3& node) const {
        switch (slice_.kind) {
            case Slice::Kind::azimuth:
                return cosine_ * from(node, 2) - sine_ * from(node, 1);
            case Slice::Kind::criterion:
                return vortices_(node[0], node[1], node[2], kTurns<Dim>) - slice_.place;
            default:
                return nodes_(node[0], node[1], node[2], slice_.axis) - slice_.place;
        }
    }
    /// Of a half plane: those of cells whose middle is on its side of the axis.
    [[nodiscard]] bool has(const Int3& cell) const {
        if (slice_.kind != Slice::Kind::azimuth) return true;
        double sum = 0;
        for (int n = 0; n < 8; ++n) {
            const Int3 node{cell[0] + (n & 1), cell[1] + (n >> 1 & 1), cell[2] + (n >> 2)};
            sum += cosine_ * from(node, 1) + sine_ * from(node, 2);
        }
        return sum >= 0;
    }

  private:
    [[nodiscard]] double from(const Int3& node, int by) const {
        const int d = (slice_.axis + by) % 3;
        return nodes_(node[0], node[1], node[2], d) - slice_.centre[static_cast<std::size_t>(d)];
    }
    const Slice& slice_;
    FieldView<const double> nodes_;
    NodeValues vortices_;
    double cosine_ = 1, sine_ = 0;
};

/// Makes rows and surface of a box of cells, one cell after the other.
template <int Dim>
class Cutter {
  public:
    Cutter(const FieldView<const double>& nodes, const NodeValues& values, double gamma,
           const NodeValues& vortices)
        : nodes_(nodes), values_(values), vortices_(vortices), gamma_(gamma) {}

    [[nodiscard]] Point point_at(const Int3& at) const {
        Point p;
        for (std::size_t d = 0; d < Dim; ++d)
            p.x[d] = nodes_(at[0], at[1], at[2], static_cast<int>(d)),
            p.q[d + 1] = values_(at[0], at[1], at[2], static_cast<int>(d) + 1);
        p.q[0] = values_(at[0], at[1], at[2], 0), p.q[4] = values_(at[0], at[1], at[2], Dim + 1);
        if (!vortices_.box().empty()) {
            for (int c = 0; c < kTurns<Dim>; ++c)
                p.q[static_cast<std::size_t>(8 - kTurns<Dim> + c)] = vortices_(at[0], at[1], at[2], c);
            p.q[8] = vortices_(at[0], at[1], at[2], kTurns<Dim>);
        }
        const Box& box = nodes_.box();
        std::int64_t number = 0;
        for (std::size_t d = 3; d-- > 0;) number = number * (box.hi[d] - box.lo[d]) + at[d] - box.lo[d];
        p.key = number * kEdges;
        return p;
    }

    /// The part of a simplex in the plane, from whose corners' numbers in the cell (a bit for each axis) it
    /// has these distances.
    template <std::size_t N>
    void cut_simplex(const std::array<std::size_t, N>& number, const Point* corner, const double* above) {
        std::array<std::size_t, N> up{}, down{};
        std::size_t n_up = 0, n_down = 0;
        for (const std::size_t n : number) (above[n] >= 0 ? up[n_up++] : down[n_down++]) = n;
        if (n_up == 0 || n_down == 0) return;
        const auto edge = [&](std::size_t u, std::size_t d) {
            const std::size_t a = up[u], b = down[d];
            const double share = above[a] / (above[a] - above[b]);
            Point p = corner[a];
            if (share == 0) return p;  // the node itself, whichever edge has it
            for (std::size_t c = 0; c < 3; ++c) p.x[c] += share * (corner[b].x[c] - corner[a].x[c]);
            for (std::size_t c = 0; c < p.q.size(); ++c) p.q[c] += share * (corner[b].q[c] - corner[a].q[c]);
            // The bits of one end of an edge are among those of the other.
            p.key = corner[a & b].key + static_cast<std::int64_t>(a ^ b);
            return p;
        };
        if constexpr (N == 3) {
            add(edge(0, 0), n_up == 1 ? edge(0, 1) : edge(1, 0));
        } else if (n_up == 2) {
            add(edge(0, 0), edge(0, 1), edge(1, 1), edge(1, 0));
        } else if (n_up == 1) {
            add(edge(0, 0), edge(0, 1), edge(0, 2));
        } else {
            add(edge(0, 0), edge(1, 0), edge(2, 0));
        }
    }

    /// A line, triangle or quadrilateral of the present cell.
    void add(const Point& a, const Point& b) { piece_.add(a, b), polygon(a, b); }
    void add(const Point& a, const Point& b, const Point& c) { piece_.add(a, b, c), polygon(a, b, c); }
    void add(const Point& a, const Point& b, const Point& c, const Point& d) {
        piece_.add(a, b, c), piece_.add(a, c, d);
        polygon(a, b, c, d);
    }

    /// The present cell is done.
    void end(const Int3& cell) {
        SliceSurface& surface = made_.surface;
        if (piece_.size > 0) made_.rows.push_back(piece_.row(cell, gamma_));
        surface.cells.resize(surface.ends.size(), cell);
        piece_ = {};
    }
    [[nodiscard]] SlicePieces take() { return std::move(made_); }

  private:
    static constexpr std::int64_t kEdges = 8;  // up from a node, within its cell; 0: the node

    template <class... Points>
    void polygon(const Points&... points) {
        SliceSurface& surface = made_.surface;
        const std::size_t before = surface.corners.size();
        for (const Point* p : {&points...}) {
            const std::int64_t at = number_of(*p);
            const auto mine = surface.corners.begin() + static_cast<std::ptrdiff_t>(before);
            if (std::find(mine, surface.corners.end(), at) == surface.corners.end())
                surface.corners.push_back(at);
        }
        // A plane through nodes touches cells in a point or along an edge.
        if (surface.corners.size() - before < Dim)
            surface.corners.resize(before);
        else
            surface.ends.push_back(static_cast<std::int64_t>(surface.corners.size()));
    }
    std::int64_t number_of(const Point& p) {
        SliceSurface& surface = made_.surface;
        const auto [it, is_new] = known_.try_emplace(p.key, static_cast<std::int64_t>(surface.points.size()));
        if (is_new) surface.points.push_back(p.x), surface.values.push_back(primitive(p.q, gamma_));
        return it->second;
    }

    FieldView<const double> nodes_;
    NodeValues values_, vortices_;
    double gamma_;
    Piece piece_;
    SlicePieces made_;
    std::unordered_map<std::int64_t, std::int64_t> known_;  // numbers of points by their keys
};

}  // namespace

template <int Dim>
SlicePieces cut_cells(const Slice& slice, const Box& cells, const FieldView<const double>& nodes,
                      const NodeValues& values, double gamma, const IsCut& is_cut,
                      const NodeValues& vortices) {
    constexpr std::size_t kCorners = Dim == 2 ? 4 : 8;
    const Above<Dim> height(slice, nodes, vortices);
    Cutter<Dim> cutter(nodes, values, gamma, vortices);
    graph::for_each(cells, [&](int i, int j, int k) {
        std::array<double, kCorners> above{};
        bool some_above = false, some_below = false;
        const auto corner = [&](std::size_t n) {
            return Int3{i + static_cast<int>(n & 1), j + static_cast<int>(n >> 1 & 1),
                        k + static_cast<int>(n >> 2)};
        };
        for (std::size_t n = 0; n < kCorners; ++n) {
            above[n] = height(corner(n));
            (above[n] >= 0 ? some_above : some_below) = true;
        }
        if (!some_above || !some_below || !height.has({i, j, k})) return;
        if (is_cut && !is_cut({i, j, k})) return;
        std::array<Point, kCorners> points;
        for (std::size_t n = 0; n < kCorners; ++n) points[n] = cutter.point_at(corner(n));
        const auto simplex = [&](auto... n) {
            cutter.template cut_simplex<sizeof...(n)>({static_cast<std::size_t>(n)...}, points.data(),
                                                      above.data());
        };
        if constexpr (Dim == 2) {
            simplex(0, 1, 3), simplex(0, 3, 2);
        } else {  // around the diagonal from corner 0 to 7
            simplex(0, 1, 3, 7), simplex(0, 3, 2, 7), simplex(0, 2, 6, 7);
            simplex(0, 6, 4, 7), simplex(0, 4, 5, 7), simplex(0, 5, 1, 7);
        }
        cutter.end({i, j, k});
    });
    return cutter.take();
}

template <int Dim>
SlicePieces index_faces(int axis, int node, bool below, const Box& cells,
                        const FieldView<const double>& nodes, const NodeValues& values, double gamma,
                        const IsCut& is_cut, const NodeValues& vortices) {
    const auto a = static_cast<std::size_t>(axis);
    const int cell = below ? node - 1 : node;
    if (cell < cells.lo[a] || cell >= cells.hi[a]) return {};
    Cutter<Dim> cutter(nodes, values, gamma, vortices);
    Box layer = cells;
    layer.lo[a] = cell, layer.hi[a] = cell + 1;
    const std::size_t b = (a + 1) % Dim, c = (a + 2) % Dim;
    graph::for_each(layer, [&](int i, int j, int k) {
        if (is_cut && !is_cut({i, j, k})) return;
        const auto corner = [&](int u, int v) {
            Int3 at{i, j, k};
            at[a] = node, at[b] += u;
            if (Dim == 3) at[c] += v;
            return cutter.point_at(at);
        };
        if constexpr (Dim == 2)
            cutter.add(corner(0, 0), corner(1, 0));
        else
            cutter.add(corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1));
        cutter.end({i, j, k});
    });
    return cutter.take();
}

#define STRATA_FLOW_SLICES(Dim)                                                                       \
    template SlicePieces cut_cells<Dim>(const Slice&, const Box&, const FieldView<const double>&,     \
                                        const NodeValues&, double, const IsCut&, const NodeValues&);  \
    template SlicePieces index_faces<Dim>(int, int, bool, const Box&, const FieldView<const double>&, \
                                          const NodeValues&, double, const IsCut&, const NodeValues&);
STRATA_FLOW_SLICES(2)
STRATA_FLOW_SLICES(3)
#undef STRATA_FLOW_SLICES

}  // namespace strata::flow
