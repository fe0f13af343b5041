// Shape functions, products of one function for each direction, for eight particles of one cell at once.
//
// All particles of a cell have the same grid points, in the same order: linear functions have those at the
// cell's corners, B-splines those at the centres of the cell and of its neighbours, GIMP the corners of the
// cell and the next ones.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/graph/declare/access.hpp"
#include "methods/particles/lanes.hpp"

namespace strata::particles {

using graph::Box;
using graph::FieldView;
using graph::Int3;
using graph::Real3;

/// Values and derivatives (per metre) along one direction, and the grid points' places relative to the
/// particle, in metres.
template <int N>
struct Along {
    Lanes w[N], g[N], away[N];
};

/// APIC: what stands for the derivative in C: w (x_i - x_p) / D, with a D of its own for each particle and
/// direction: sum of w (x_i - x_p)^2 (Jiang et al. 2015, eqs. 8, 9; D is diagonal since w is a product).
template <int N>
void affine_of(Along<N>& a) {
    Lanes D{};
    for (int i = 0; i < N; ++i) D += a.w[i] * a.away[i] * a.away[i];
    for (int i = 0; i < N; ++i) a.g[i] = a.w[i] * a.away[i] / D;
}

/// w = 1 - |x - x_i| / h (Sulsky, Chen and Schreyer, Comput. Methods Appl. Mech. Eng. 118 (1994) 179).
struct Linear {
    static constexpr int kPoints = 2, kFirst = 0;
    static constexpr graph::On kOn = graph::On::nodes;
    static Along<2> along(const Lanes& xi, double h, double per_h, double) {
        return {{1.0 - xi, xi}, {broadcast(-per_h), broadcast(per_h)}, {-xi * h, (1.0 - xi) * h}};
    }
    /// w (x_i - x_p) / D is the derivative itself, also where D vanishes (Jiang, Schroeder and Teran, J.
    /// Comput. Phys. 338 (2017) 137). It does not decay with w: see enough_mass().
    static void affine(Along<2>&, double) {}
};

/// GIMP with particles of one size, which neither turn nor stretch: w is the mean of the linear function over
/// the particle, 2 l long (Bardenhagen and Kober, Comput. Model. Eng. Sci. 5 (2004) 477, eq. 34; "uGIMP").
/// reach = l / h, up to 1/2. Beside the cell's corners, the next grid point below has a share if the particle
/// reaches below the cell, and the next above if it reaches above.
struct Gimp {
    static constexpr int kPoints = 4, kFirst = -1;
    static constexpr graph::On kOn = graph::On::nodes;
    static Along<4> along(const Lanes& xi, double h, double per_h, double reach) {
        const Lanes below = max(reach - xi, Lanes{}), above = max(xi - (1.0 - reach), Lanes{});
        const Lanes w0 = below * below * (0.25 / reach), w3 = above * above * (0.25 / reach);
        const Lanes g0 = below * (-0.5 * per_h / reach), g3 = above * (0.5 * per_h / reach);
        return {{w0, 1.0 - xi - 2.0 * w0 + w3, xi - 2.0 * w3 + w0, w3},
                {g0, -per_h - 2.0 * g0 + g3, per_h - 2.0 * g3 + g0, g3},
                {(-1.0 - xi) * h, -xi * h, (1.0 - xi) * h, (2.0 - xi) * h}};
    }
    static void affine(Along<4>& a, double) { affine_of(a); }
};

/// Quadratic B-splines (Steffen, Kirby and Berzins, Int. J. Numer. Meth. Eng. 76 (2008) 922, eq. 22).
struct Quadratic {
    static constexpr int kPoints = 3, kFirst = -1;
    static constexpr graph::On kOn = graph::On::cells;
    static Along<3> along(const Lanes& xi, double h, double per_h, double) {
        const Lanes d = xi - 0.5, low = 0.5 - d, high = 0.5 + d;
        return {{0.5 * low * low, 0.75 - d * d, 0.5 * high * high},
                {-per_h * low, (-2 * per_h) * d, per_h * high},
                {(-1.0 - d) * h, -d * h, (1.0 - d) * h}};
    }
    /// APIC: what stands for the derivative in C: w (x_i - x_p) / D with D = h^2/4 (Jiang et al., eq. 8 and
    /// sec. 5.3).
    static void affine(Along<3>& a, double per_h) {
        for (int i = 0; i < 3; ++i) a.g[i] = a.w[i] * a.away[i] * (4 * per_h * per_h);
    }
};

/// Where cells are: the same arithmetic as that of relocations.
struct Lattice {
    Lattice(const graph::GridShape& shape, const std::vector<std::int64_t>& per_cell)
        : origin(shape.origin), h(shape.spacing) {
        for (std::size_t a = 0; a < 3; ++a)
            per_h[a] = 1.0 / h[a], reach[a] = 0.5 / static_cast<double>(per_cell[a]);
    }
    Real3 origin, h, per_h{}, reach{};  // reach: half a particle's size, in cells
};

/// Neighbouring particles of the patch's arrays that are in one cell.
struct Run {
    Int3 cell;
    std::int32_t first, count;
};

/// body(first, n) for up to eight particles of a cell at a time.
template <class Body>
inline void for_blocks(const Run& run, Body body) {
    for (std::int32_t done = 0; done < run.count; done += kLanes)
        body(std::int64_t{run.first} + done, std::min(kLanes, run.count - done));
}

/// The runs of a patch's `count` particles at (x, y, z): one a cell, since particles are sorted. Returns the
/// first particle that is not in `cells`, or -1.
inline std::int64_t find_runs(const Box& cells, const Lattice& lattice, const double* const (&x)[3],
                              std::int64_t count, std::vector<Run>& runs) {
    using std::floor;
    static thread_local std::vector<std::int32_t> keys;
    if (static_cast<std::int64_t>(keys.size()) < count)
        keys.resize(static_cast<std::size_t>(count + count / 4));
    double low[3], size[3];
    for (std::size_t a = 0; a < 3; ++a) low[a] = cells.lo[a], size[a] = cells.extent(static_cast<int>(a));
    std::int32_t* const key = keys.data();
    std::int64_t lost = 0;
    for (std::int64_t p = 0; p < count; ++p) {
        Real at[3];
        int inside = 1;
        for (std::size_t a = 0; a < 3; ++a) {
            at[a] = floor((Real(x[a][p]) - lattice.origin[a]) * lattice.per_h[a]) - low[a];
            inside &= static_cast<int>(at[a] >= 0) & static_cast<int>(at[a] < size[a]);
        }
        const Real index = (at[2] * size[1] + at[1]) * size[0] + at[0];
        key[p] = static_cast<std::int32_t>(inside != 0 ? index : Real(-1));
        lost += 1 - inside;
    }
    runs.clear();
    // Cells by their numbers: a product where a division takes longer than the particles of a cell do (exact:
    // the quotients are 0.5 / nx and more from the next whole number).
    const int nx = cells.extent(0), ny = cells.extent(1);
    const double per_nx = 1.0 / nx, per_ny = 1.0 / ny;
    for (std::int64_t first = 0, p = 0; first < count; first = p) {
        const std::int32_t k = key[first];
        if (lost > 0 && k < 0) return first;
        while (p < count && key[p] == k) ++p;
        const int row = static_cast<int>((k + 0.5) * per_nx), plane = static_cast<int>((row + 0.5) * per_ny);
        runs.push_back({{cells.lo[0] + k - row * nx, cells.lo[1] + row - plane * ny, cells.lo[2] + plane},
                        static_cast<std::int32_t>(first),
                        static_cast<std::int32_t>(p - first)});
    }
    return -1;
}

/// The shape functions of particles first .. first + n of a cell.
template <class Shape>
struct Weights {
    Along<Shape::kPoints> d[3];
    Weights(const Lattice& lattice, const Int3& cell, const double* const (&x)[3], std::int64_t first,
            int n) {
        for (std::size_t a = 0; a < 3; ++a) {
            const Lanes at = load_ahead(x[a] + first, n, x[a][first]);
            const Lanes xi = (at - lattice.origin[a]) * lattice.per_h[a] - static_cast<double>(cell[a]);
            d[a] = Shape::along(xi, lattice.h[a], lattice.per_h[a], lattice.reach[a]);
        }
    }
    /// At these places in a cell, from 0 to 1.
    Weights(const Lattice& lattice, const Lanes (&xi)[3]) {
        for (std::size_t a = 0; a < 3; ++a)
            d[a] = Shape::along(xi[a], lattice.h[a], lattice.per_h[a], lattice.reach[a]);
    }
};

}  // namespace strata::particles
