// From particles to the grid: M2G and CIF of the Uintah paper.
//
// A cell's contributions to its grid points are summed over its particles first, in the order of their
// numbers, and then rounded to a multiple of a fixed quantum (Demmel and Nguyen, Fast reproducible
// floating-point summation, ARITH 21 (2013) 163, sec. III). Sums of such multiples are exact, so they are the
// same in whatever order cells and patches are added: bits depend neither on the layout nor on the patches.
#pragma once

#include <cmath>

#include "solvers/mpm/material.hpp"
#include "solvers/mpm/shape.hpp"

namespace strata::mpm {

/// What is added to a number and taken off again to round it to a multiple of a power of two, so that sums of
/// such numbers are exact: for numbers below 2 `most` and sums below 8 `most` (beyond it sums are rounded as
/// any others).
inline double rounding_shift(double most) { return 1.5 * std::ldexp(1.0, std::ilogb(most) + 3); }

/// Where a patch's particles are. Components are arrays of their own.
struct Points {
    const double* x[3];
    const double* v[3];
    const double* C[9];  // APIC
    const double *mass, *volume;
    const double* stress[6];
    const double* load[3];  // null: none
};

namespace detail {

/// Four values of each of eight particles, to be taken particle by particle.
struct Four {
    alignas(64) double of[4][kLanes] = {};
    void set(int c, const Lanes& x) { std::memcpy(of[c], &x, sizeof x); }
    [[nodiscard]] Quad operator[](int p) const { return Quad{of[0][p], of[1][p], of[2][p], of[3][p]}; }
};

template <int N>
struct Scalars {
    alignas(64) double of[N][kLanes];
    explicit Scalars(const Lanes (&from)[N]) { std::memcpy(of, from, sizeof of); }
};

/// Adds a cell's sums to the grid, by component.
template <class Shape, int Components>
void add_to_grid(const Quad (&sums)[Shape::kPoints][Shape::kPoints][Shape::kPoints], const Int3& cell,
                 const FieldView<double>& to, const Quad& shift) {
    constexpr int N = Shape::kPoints;
    for (int k = 0; k < N; ++k)
        for (int j = 0; j < N; ++j) {
            Quad row[N];
            for (int i = 0; i < N; ++i) row[i] = (sums[k][j][i] + shift) - shift;
            for (int c = 0; c < Components; ++c) {
                double* const at =
                    graph::pointer_to(to.row(cell[1] + j + Shape::kFirst, cell[2] + k + Shape::kFirst, c) +
                                          (cell[0] + Shape::kFirst),
                                      N);
                for (int i = 0; i < N; ++i) at[i] += row[i][c];
            }
        }
}

}  // namespace detail

/// M2G. `nodal` += w m (v + C (x_i - x_p)), w m (Jiang et al. 2015, eqs. 4, 5; without C: Sulsky et al. 1994,
/// eqs. 17, 18).
template <class Shape, bool Affine>
void to_grid(const std::vector<Run>& runs, const Lattice& lattice, const Points& p, double largest_momentum,
             double largest_mass, const FieldView<double>& nodal) {
    constexpr int N = Shape::kPoints;
    const double momentum = rounding_shift(largest_momentum);
    const Quad shift{momentum, momentum, momentum, rounding_shift(largest_mass)};
    for (const Run& run : runs) {
        Quad sums[N][N][N] = {};
        for (std::int32_t done = 0; done < run.count; done += kLanes) {
            const int n = std::min(kLanes, run.count - done);
            const std::int64_t at = run.first + done;
            const Weights<Shape> weights(lattice, run.cell, p.x, at, n);
            const detail::Scalars<N> wx(weights.d[0].w), wy(weights.d[1].w), wz(weights.d[2].w);
            const Lanes m = load(p.mass + at, n);
            detail::Four first, step[3];  // the momentum at the first point, and from point to point
            first.set(3, m);
            for (int c = 0; c < 3; ++c) {
                Lanes v = load(p.v[c] + at, n);
                if constexpr (Affine)
                    for (int a = 0; a < 3; ++a) {
                        const Lanes C = load(p.C[3 * c + a] + at, n);
                        v += C * weights.d[a].away[0];
                        step[a].set(c, m * C * lattice.h[static_cast<std::size_t>(a)]);
                    }
                first.set(c, m * v);
            }
            for (int l = 0; l < n; ++l) {
                const Quad q = first[l];
                Quad qx{}, qy{}, qz{};
                if constexpr (Affine) qx = step[0][l], qy = step[1][l], qz = step[2][l];
                Quad plane = q;
                for (int k = 0; k < N; ++k) {
                    Quad row = plane;
                    for (int j = 0; j < N; ++j) {
                        const double w = wy.of[j][l] * wz.of[k][l];
                        Quad point = row;
                        for (int i = 0; i < N; ++i) {
                            sums[k][j][i] += (w * wx.of[i][l]) * point;
                            if constexpr (Affine) point += qx;
                        }
                        if constexpr (Affine) row += qy;
                    }
                    if constexpr (Affine) plane += qz;
                }
            }
        }
        detail::add_to_grid<Shape, 4>(sums, run.cell, nodal, shift);
    }
}

/// CIF. `force` += -V tau grad w + w load (Sulsky et al. 1994, eqs. 22, 23, with the undeformed volume and
/// Kirchhoff's stress for the volume and Cauchy's).
template <class Shape>
void forces_to_grid(const std::vector<Run>& runs, const Lattice& lattice, const Points& p,
                    double largest_force, const FieldView<double>& force) {
    constexpr int N = Shape::kPoints;
    constexpr int kAt[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};  // of component (a, c) among the six
    const Quad shift = Quad{} + rounding_shift(largest_force);
    for (const Run& run : runs) {
        Quad sums[N][N][N] = {};
        for (std::int32_t done = 0; done < run.count; done += kLanes) {
            const int n = std::min(kLanes, run.count - done);
            const std::int64_t at = run.first + done;
            const Weights<Shape> weights(lattice, run.cell, p.x, at, n);
            const detail::Scalars<N> wx(weights.d[0].w), wy(weights.d[1].w), wz(weights.d[2].w);
            const detail::Scalars<N> gx(weights.d[0].g), gy(weights.d[1].g), gz(weights.d[2].g);
            const Lanes volume = load(p.volume + at, n);
            detail::Four column[3], load_of;  // -V tau, by its columns
            for (int a = 0; a < 3; ++a)
                for (int c = 0; c < 3; ++c) column[a].set(c, -volume * load(p.stress[kAt[a][c]] + at, n));
            if (p.load[0] != nullptr)
                for (int c = 0; c < 3; ++c) load_of.set(c, load(p.load[c] + at, n));
            for (int l = 0; l < n; ++l) {
                const Quad x = column[0][l], y = column[1][l], z = column[2][l], own = load_of[l];
                for (int k = 0; k < N; ++k)
                    for (int j = 0; j < N; ++j) {
                        const double w = wy.of[j][l] * wz.of[k][l];
                        const Quad across = w * x;
                        const Quad along =
                            (gy.of[j][l] * wz.of[k][l]) * y + (wy.of[j][l] * gz.of[k][l]) * z + w * own;
                        for (int i = 0; i < N; ++i)
                            sums[k][j][i] += gx.of[i][l] * across + wx.of[i][l] * along;
                    }
            }
        }
        detail::add_to_grid<Shape, 3>(sums, run.cell, force, shift);
    }
}

}  // namespace strata::mpm
