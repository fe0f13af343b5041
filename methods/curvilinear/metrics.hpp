// Metrics of curvilinear cells from their nodes: face vectors, volumes, centres.
//
// Face vectors point up the index and are as long as the face's area (in two dimensions: its length, for a
// depth of 1). Of a face with corners that do not lie in a plane it is the integral of the normal over any
// surface with these edges, half the cross product of the diagonals: so the vectors of a cell add up to zero
// but for rounding, and a uniform flow is kept on any grid. Volumes are those of cells with trilinear sides,
// exactly, and fill a domain without gaps.
//
// Axisymmetric: x along the axis, y the radius, everything for an angle of one radian. Faces are frusta of
// cones, cells rings of quadrilateral section. The vectors along y then leave the section's area over, which
// is what the pressure on the two planes beside the radian gives: the source term of the momentum along y is
// p times plane_areas().
#pragma once

#include <array>
#include <cstddef>

#include "core/graph/declare/box.hpp"
#include "core/graph/declare/view.hpp"

namespace strata::flow {

using Nodes = graph::FieldView<const double>;  // Dim components; in two dimensions k = 0
using Metric = graph::FieldView<double>;

namespace metrics {

/// Half the cross product of a and b.
[[gnu::always_inline]] inline std::array<double, 3> half_cross(const std::array<double, 3>& a,
                                                               const std::array<double, 3>& b) {
    return {0.5 * (a[1] * b[2] - a[2] * b[1]), 0.5 * (a[2] * b[0] - a[0] * b[2]),
            0.5 * (a[0] * b[1] - a[1] * b[0])};
}
[[gnu::always_inline]] inline double triple(const std::array<double, 3>& a, const std::array<double, 3>& b,
                                            const std::array<double, 3>& c) {
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

using Corner = std::array<double, 3>;
[[gnu::always_inline]] inline Corner sum(const Corner& a, const Corner& b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}

/// Of a cell with bilinear or trilinear sides; corner n is up along axis d where bit d of n is set.
///
/// Three dimensions: Grandy, Efficient computation of volume of hexahedral cells, UCRL-ID-128886 (1997),
/// equation 17.
template <int Dim>
[[gnu::always_inline]] inline double cell_volume(const std::array<Corner, std::size_t{1} << Dim>& x) {
    const auto between = [&](std::size_t to, std::size_t from) {
        return Corner{x[to][0] - x[from][0], x[to][1] - x[from][1], x[to][2] - x[from][2]};
    };
    if constexpr (Dim == 2) {
        const Corner up = between(3, 0), across = between(2, 1);
        return 0.5 * (up[0] * across[1] - up[1] * across[0]);
    } else {
        const Corner e71 = between(7, 1), e60 = between(6, 0), e72 = between(7, 2), e30 = between(3, 0),
                     e50 = between(5, 0), e74 = between(7, 4);
        return (triple(sum(e71, e60), e72, e30) + triple(e60, sum(e72, e50), e74) +
                triple(e71, e50, sum(e74, e30))) /
               12;
    }
}

}  // namespace metrics

/// Vectors of the faces across an axis: face i lies between cells i - 1 and i. `s` has Dim components.
template <int Dim, class NodeView, class View>
void face_vectors(int axis, const graph::Box& faces, const NodeView& x, const View& s) {
    const int b = (axis + 1) % Dim, c = (axis + 2) % Dim;  // c is not used in two dimensions
    for (int k = faces.lo[2]; k < faces.hi[2]; ++k)
        for (int j = faces.lo[1]; j < faces.hi[1]; ++j) {
            if constexpr (Dim == 2) {
                const int dj = axis == 0 ? 1 : 0, di = 1 - dj;
                const auto x0 = x.row(j, k, 0), y0 = x.row(j, k, 1);
                const auto x1 = x.row(j + dj, k, 0), y1 = x.row(j + dj, k, 1);
                const auto sx = s.row(j, k, 0), sy = s.row(j, k, 1);
                const double sign = axis == 0 ? 1 : -1;
                for (int i = faces.lo[0]; i < faces.hi[0]; ++i) {
                    sx[i] = sign * (y1[i + di] - y0[i]);
                    sy[i] = -sign * (x1[i + di] - x0[i]);
                }
            } else {
                const auto row = [&](int bb, int cc, int d) {
                    const int dj = (b == 1 ? bb : 0) + (c == 1 ? cc : 0),
                              dk = (b == 2 ? bb : 0) + (c == 2 ? cc : 0);
                    return x.row(j + dj, k + dk, d) + ((b == 0 ? bb : 0) + (c == 0 ? cc : 0));
                };
                const decltype(x.row(j, k, 0)) p00[3] = {row(0, 0, 0), row(0, 0, 1), row(0, 0, 2)},
                                               p10[3] = {row(1, 0, 0), row(1, 0, 1), row(1, 0, 2)},
                                               p01[3] = {row(0, 1, 0), row(0, 1, 1), row(0, 1, 2)},
                                               p11[3] = {row(1, 1, 0), row(1, 1, 1), row(1, 1, 2)};
                const auto sx = s.row(j, k, 0), sy = s.row(j, k, 1), sz = s.row(j, k, 2);
                for (int i = faces.lo[0]; i < faces.hi[0]; ++i) {
                    std::array<double, 3> d1, d2;
                    for (std::size_t d = 0; d < 3; ++d)
                        d1[d] = p11[d][i] - p00[d][i], d2[d] = p01[d][i] - p10[d][i];
                    const auto v = metrics::half_cross(d1, d2);
                    sx[i] = v[0], sy[i] = v[1], sz[i] = v[2];
                }
            }
        }
}

/// What faces sweep in a unit of time where their places x move at velocity + spin x (x - centre): the exact
/// integral of that . dS over any surface with straight edges. spin x r is the curl of -|r|^2 spin / 2, so by
/// Stokes' theorem the integral is that of -|r|^2 spin / 2 . dl around the face, along an edge from a to b
///   -(b - a) . spin (|a|^2 + a . b + |b|^2) / 6.
/// Two cells see an edge the same, so the sum over a cell vanishes but for rounding: the grid turns without
/// making or losing fluid. r is taken from the mean of the corners, whose own velocity counts times the face
/// vector. `s` are the face vectors, in two dimensions the velocity of an edge's middle is exact.
template <int Dim, class NodeView, class FaceView, class View>
void swept_volumes(int axis, const graph::Box& faces, const NodeView& x, const FaceView& s,
                   const std::array<double, 3>& velocity, const std::array<double, 3>& spin,
                   const std::array<double, 3>& centre, const View& swept) {
    using Place = std::array<double, 3>;
    constexpr std::size_t corners = Dim == 2 ? 2 : 4;
    const auto b = static_cast<std::size_t>((axis + 1) % Dim), c = static_cast<std::size_t>((axis + 2) % Dim);
    const auto product = [](const Place& p, const Place& q) {
        return p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    };
    graph::for_each(faces, [&](int i, int j, int k) {
        std::array<Place, corners> corner{};
        Place middle{};
        for (std::size_t n = 0; n < corners; ++n) {  // around the face
            graph::Int3 at{i, j, k};
            at[b] += n == 1 || n == 2 ? 1 : 0;
            if constexpr (Dim == 3) at[c] += n >= 2 ? 1 : 0;
            for (std::size_t d = 0; d < Dim; ++d) {
                corner[n][d] = x(at[0], at[1], at[2], static_cast<int>(d));
                middle[d] += corner[n][d] / corners;
            }
        }
        Place r, area{};
        for (std::size_t d = 0; d < 3; ++d) r[d] = middle[d] - centre[d];
        for (std::size_t d = 0; d < Dim; ++d) area[d] = s(i, j, k, static_cast<int>(d));
        double sum = 0;
        for (std::size_t d = 0; d < Dim; ++d) {
            const std::size_t e = (d + 1) % 3, f = (d + 2) % 3;
            sum += area[d] * (velocity[d] + spin[e] * r[f] - spin[f] * r[e]);
        }
        if constexpr (Dim == 3)
            for (std::size_t n = 0; n < corners; ++n) {
                Place from, to, edge;
                for (std::size_t d = 0; d < 3; ++d) {
                    from[d] = corner[n][d] - middle[d], to[d] = corner[(n + 1) % corners][d] - middle[d];
                    edge[d] = to[d] - from[d];
                }
                sum -= product(edge, spin) * (product(from, from) + product(from, to) + product(to, to)) / 6;
            }
        swept(i, j, k) = sum;
    });
}

/// Volumes of cells (in two dimensions areas).
template <int Dim, class NodeView, class View>
void volumes(const graph::Box& cells, const NodeView& x, const View& volume) {
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
            const auto v = volume.row(j, k, 0);
            if constexpr (Dim == 2) {
                const auto x0 = x.row(j, k, 0), y0 = x.row(j, k, 1), x1 = x.row(j + 1, k, 0),
                           y1 = x.row(j + 1, k, 1);
                for (int i = cells.lo[0]; i < cells.hi[0]; ++i)
                    v[i] = 0.5 * ((x1[i + 1] - x0[i]) * (y1[i] - y0[i + 1]) -
                                  (y1[i + 1] - y0[i]) * (x1[i] - x0[i + 1]));
            } else {
                for (int i = cells.lo[0]; i < cells.hi[0]; ++i) {
                    std::array<metrics::Corner, 8> corners;
                    for (int n = 0; n < 8; ++n)
                        for (int d = 0; d < 3; ++d)
                            corners[static_cast<std::size_t>(n)][static_cast<std::size_t>(d)] =
                                x(i + (n & 1), j + (n >> 1 & 1), k + (n >> 2), d);
                    v[i] = metrics::cell_volume<3>(corners);
                }
            }
        }
}

/// Centres of cells: the means of their corners (as CFL3D).
template <int Dim, class NodeView, class View>
void centres(const graph::Box& cells, const NodeView& x, const View& centre) {
    for (int d = 0; d < Dim; ++d)
        for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
            for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
                const auto c = centre.row(j, k, d);
                const auto a0 = x.row(j, k, d), a1 = x.row(j + 1, k, d);
                if constexpr (Dim == 2) {
                    for (int i = cells.lo[0]; i < cells.hi[0]; ++i)
                        c[i] = 0.25 * ((a0[i] + a0[i + 1]) + (a1[i] + a1[i + 1]));
                } else {
                    const auto b0 = x.row(j, k + 1, d), b1 = x.row(j + 1, k + 1, d);
                    for (int i = cells.lo[0]; i < cells.hi[0]; ++i)
                        c[i] = 0.125 * (((a0[i] + a0[i + 1]) + (a1[i] + a1[i + 1])) +
                                        ((b0[i] + b0[i + 1]) + (b1[i] + b1[i + 1])));
                }
            }
}

/// Axisymmetric face vectors: length times mean radius.
template <class NodeView, class View>
void axisymmetric_face_vectors(int axis, const graph::Box& faces, const NodeView& x, const View& s) {
    face_vectors<2>(axis, faces, x, s);
    const int dj = axis == 0 ? 1 : 0, di = 1 - dj;
    for (int j = faces.lo[1]; j < faces.hi[1]; ++j) {
        const auto r0 = x.row(j, 0, 1), r1 = x.row(j + dj, 0, 1);
        const auto sx = s.row(j, 0, 0), sy = s.row(j, 0, 1);
        for (int i = faces.lo[0]; i < faces.hi[0]; ++i) {
            const double radius = 0.5 * (r0[i] + r1[i + di]);
            sx[i] *= radius, sy[i] *= radius;
        }
    }
}

/// Axisymmetric volumes: for each of the two triangles of the section its area times the mean radius
/// (Pappus).
template <class NodeView, class View>
void axisymmetric_volumes(const graph::Box& cells, const NodeView& x, const View& volume) {
    for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
        const auto x0 = x.row(j, 0, 0), y0 = x.row(j, 0, 1), x1 = x.row(j + 1, 0, 0), y1 = x.row(j + 1, 0, 1);
        const auto v = volume.row(j, 0, 0);
        for (int i = cells.lo[0]; i < cells.hi[0]; ++i) {
            const double ex = x1[i + 1] - x0[i], ey = y1[i + 1] - y0[i];  // the diagonal
            const double low = (x0[i + 1] - x0[i]) * ey - (y0[i + 1] - y0[i]) * ex;
            const double high = ex * (y1[i] - y0[i]) - ey * (x1[i] - x0[i]);
            const double ends = y0[i] + y1[i + 1];
            v[i] = (low * (ends + y0[i + 1]) + high * (ends + y1[i])) / 6;
        }
    }
}

/// Areas of axisymmetric cells in the plane, for the source term.
template <class NodeView, class View>
void plane_areas(const graph::Box& cells, const NodeView& x, const View& area) {
    volumes<2>(cells, x, area);
}

}  // namespace strata::flow
