// The four operators of MG (NAS-91-002, section 2.2.2) on one plane of a block. Each is a stencil of 27
// points whose weight depends on the distance alone: of the point itself, the 6 at its faces, the 12 at its
// edges and the 8 at its corners. Sums over the four rows at equal distance are taken once and used for three
// points.
#pragma once

#include <array>

#include "benchmarks/npb/mg/field.hpp"

namespace strata::npb::mg {

/// Weights by distance: centre, face, edge, corner.
using Weights = std::array<double, 4>;

/// A, the residual's operator; its weight of faces is 0.
inline constexpr Weights kA = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
/// C, the smoother: classes S, W and A, and the others. Its weight of corners is 0.
inline constexpr Weights kSmall = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
inline constexpr Weights kLarge = {-3.0 / 17, 1.0 / 33, -1.0 / 61, 0};

/// Three neighbouring planes.
struct Slab {
    Plane below, here, above;
};

[[nodiscard]] inline Slab slab(const Field& f, std::int64_t z) {
    return {f.plane(z - 1), f.plane(z), f.plane(z + 1)};
}

/// Rows begin to end - 1 of a plane.
struct Rows {
    std::int64_t begin, end;
};

/// Two rows of scratch, of nx + 16 doubles each, aligned to cache lines.
struct Scratch {
    double* first = nullptr;
    double* second = nullptr;
};

/// Where the same rows lie of what is needed next: they are asked for into the second cache, meanwhile.
struct Next {
    Plane first, second;
};
/// The rows that come up soon in a plane that is worked on as a whole.
[[nodiscard]] inline Plane soon(Plane p) {
    constexpr std::int64_t kRowsAhead = 4;
    return {p.at(kRowsAhead), p.row};
}

/// out = v - A u on rows of nx points of one plane; `out` may be `v`.
void residual(const Slab& u, Plane v, Plane out, std::int64_t nx, Rows rows, Scratch scratch, Next next);

/// The same for a whole plane.
inline void residual_of_plane(const Field& u, const Field& v, std::int64_t z, Plane out, Scratch scratch) {
    const Slab here = slab(u, z);
    residual(here, v.plane(z), out, u.nx, {0, u.ny}, scratch, {soon(v.plane(z)), soon(here.above)});
}

/// u = u + C r; with `fresh` u = C r.
void smooth(const Slab& r, Plane u, const Weights& c, bool fresh, std::int64_t nx, Rows rows, Scratch scratch,
            Next next);

/// out = P r, full weighting: coarse point c takes fine points 2 c to 2 c + 2 in each direction, with weights
/// 1/2, 1/4, 1/8, 1/16 by distance. `r` is fine planes 2 c, 2 c + 1 and 2 c + 2; coarse rows of nx points.
void restrict(const Slab& r, Plane out, std::int64_t nx, Rows rows, Scratch scratch);

/// u = u + Q w, trilinear interpolation; with `fresh` u = Q w. Fine point 2 c + 1 is coarse point c; between
/// two coarse points fine ones have the mean. Fine rows of nx points, with the values at either end, of plane
/// z; w is the coarse block. Rows -1 and ny are the values around the block.
void prolong(const Field& w, Plane u, std::int64_t z, bool fresh, std::int64_t nx, Rows rows,
             Scratch scratch);

/// Sum of squares of a plane.
[[nodiscard]] double squares(Plane r, std::int64_t nx, std::int64_t ny);

/// Values left and right of rows that are their own neighbours.
void wrap_ends(Plane plane, std::int64_t nx, Rows rows);
/// The rows before the first and after the last, the values at their ends included.
void wrap_rows(Plane plane, std::int64_t nx, std::int64_t ny);
/// Values left and right of the rows, then the rows before the first and after the last, of a plane that is
/// its own neighbour.
void wrap(Plane plane, std::int64_t nx, std::int64_t ny);

}  // namespace strata::npb::mg
