// From particles to the grid: M2G and CIF of the Uintah paper.
//
// A cell's contributions to its grid points are summed over its particles first, in the order of their
// numbers, and then rounded to a multiple of a fixed quantum (Demmel and Nguyen, Fast reproducible
// floating-point summation, ARITH 21 (2013) 163, sec. III). Sums of such multiples are exact, so they are the
// same in whatever order cells and patches are added: bits depend neither on the layout nor on the patches.
#pragma once

#include <cmath>
#include <type_traits>

#include "solvers/mpm/material.hpp"
#include "solvers/mpm/particles.hpp"

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
    const double* load[3];  // null: none
    /// Which velocity field each belongs to, where bodies in contact have fields of their own: field g has
    /// its components from 3 g (with the mass: 4 g) on. Null: one field.
    const std::int32_t* group;
};

/// body(g) for each of the groups in a run. Bodies in contact only share cells at their surfaces.
template <bool Contact, class Body>
inline void for_groups(const std::int32_t* group, const Run& run, Body body) {
    if constexpr (!Contact) {
        body(0);
    } else {
        unsigned present = 0;
        for (std::int32_t p = run.first; p < run.first + run.count; ++p) present |= 1U << group[p];
        for (int g = 0; present != 0; ++g, present >>= 1)
            if ((present & 1U) != 0) body(g);
    }
}

/// The lanes of x that are of group g; zero for the others.
template <bool Contact>
inline Lanes of_group(const Lanes& x, const std::int32_t* group, int n, int g) {
    Lanes own = x;
    if constexpr (Contact)
        for (int l = 0; l < n; ++l) own[l] = group[l] == g ? x[l] : 0;
    return own;
}

namespace detail {

/// A cell's sums for its grid points: of the even particles, and of the odd ones, four values each.
template <class Shape>
using Sums = Lanes[Shape::kPoints][Shape::kPoints][Shape::kPoints];

/// Adds them to the grid, by component, from `first` on.
template <class Shape, int Components>
void add_to_grid(const Sums<Shape>& sums, const Int3& cell, const FieldView<double>& to, int first,
                 const Lanes& shift) {
    constexpr int N = Shape::kPoints;
    for (int k = 0; k < N; ++k)
        for (int j = 0; j < N; ++j) {
            Lanes row[N];
            for (int i = 0; i < N; ++i) {
                const Lanes& both = sums[k][j][i];
                row[i] = both + shuffle<4, 5, 6, 7, 0, 1, 2, 3>(both, both);
                row[i] = (row[i] + shift) - shift;
            }
            for (int c = 0; c < Components; ++c) {
                double* const at = graph::pointer_to(
                    to.row(cell[1] + j + Shape::kFirst, cell[2] + k + Shape::kFirst, first + c) +
                        (cell[0] + Shape::kFirst),
                    N);
                for (int i = 0; i < N; ++i) at[i] += row[i][c];
            }
        }
}

/// body(pair of particles 0, 1, 2, 3) as a constant, for those of n particles.
template <class Body>
inline void for_pairs(int n, Body body) {
    body(std::integral_constant<int, 0>());
    if (n > 2) body(std::integral_constant<int, 1>());
    if (n > 4) body(std::integral_constant<int, 2>());
    if (n > 6) body(std::integral_constant<int, 3>());
}

}  // namespace detail

/// M2G. `nodal` += w m (v + C (x_i - x_p)), w m (Jiang et al. 2015, eqs. 4, 5; without C: Sulsky et al. 1994,
/// eqs. 17, 18).
template <class Shape, bool Affine, bool Contact = false>
void to_grid(const std::vector<Run>& runs, const Lattice& lattice, const Points& p, double largest_momentum,
             double largest_mass, const FieldView<double>& nodal) {
    constexpr int N = Shape::kPoints;
    const double momentum = rounding_shift(largest_momentum), mass = rounding_shift(largest_mass);
    const Lanes shift{momentum, momentum, momentum, mass, momentum, momentum, momentum, mass};
    const auto one = [&](const Run& run, int g) {
        detail::Sums<Shape> sums = {};
        for (std::int32_t done = 0; done < run.count; done += kLanes) {
            const int n = std::min(kLanes, run.count - done);
            const std::int64_t at = run.first + done;
            const Weights<Shape> weights(lattice, run.cell, p.x, at, n);
            const Lanes m = of_group<Contact>(load_ahead(p.mass + at, n), p.group + at, n, g);
            // The momentum at the first point, and by how much it grows from point to point.
            Lanes first[3], step[3][3];
            for (int c = 0; c < 3; ++c) {
                Lanes v = load_ahead(p.v[c] + at, n);
                if constexpr (Affine)
                    for (int a = 0; a < 3; ++a) {
                        const Lanes C = load_ahead(p.C[3 * c + a] + at, n);
                        v += C * weights.d[a].away[0];
                        step[a][c] = m * C * lattice.h[static_cast<std::size_t>(a)];
                    }
                first[c] = m * v;
            }
            const Pairs start(first[0], first[1], first[2], m);
            const auto steps = [&](int a) {
                return Affine ? Pairs(step[a][0], step[a][1], step[a][2], Lanes{}) : start;
            };
            const Pairs along_x = steps(0), along_y = steps(1), along_z = steps(2);
            detail::for_pairs(n, [&](auto pair) {
                constexpr int q = decltype(pair)::value;
                Lanes wx[N], wy[N];
                for (int i = 0; i < N; ++i)
                    wx[i] = spread<q>(weights.d[0].w[i]), wy[i] = spread<q>(weights.d[1].w[i]);
                Lanes plane = start.of[q];
                for (int k = 0; k < N; ++k) {
                    const Lanes wz = spread<q>(weights.d[2].w[k]);
                    Lanes row = plane;
                    for (int j = 0; j < N; ++j) {
                        const Lanes w = wy[j] * wz;
                        Lanes point = row;
                        for (int i = 0; i < N; ++i) {
                            sums[k][j][i] += (w * wx[i]) * point;
                            if constexpr (Affine) point += along_x.of[q];
                        }
                        if constexpr (Affine) row += along_y.of[q];
                    }
                    if constexpr (Affine) plane += along_z.of[q];
                }
            });
        }
        detail::add_to_grid<Shape, 4>(sums, run.cell, nodal, 4 * g, shift);
    };
    for (const Run& run : runs) for_groups<Contact>(p.group, run, [&](int g) { one(run, g); });
}

/// What one block of up to eight particles of a cell adds to that cell's `sums` in CIF; minus_V_tau: xx, yy,
/// zz, xy, yz, zx.
template <class Shape, bool Loads>
inline void add_forces(const Weights<Shape>& weights, int n, const Lanes (&minus_V_tau)[6],
                       const Lanes (&load_of)[3], detail::Sums<Shape>& sums) {
    constexpr int N = Shape::kPoints;
    const auto& s = minus_V_tau;
    const Pairs column_x(s[0], s[3], s[5], Lanes{}), column_y(s[3], s[1], s[4], Lanes{}),
        column_z(s[5], s[4], s[2], Lanes{});
    const Pairs own = Loads ? Pairs(load_of[0], load_of[1], load_of[2], Lanes{}) : column_x;
    detail::for_pairs(n, [&](auto pair) {
        constexpr int q = decltype(pair)::value;
        Lanes wx[N], gx[N], wy[N], gy[N];
        for (int i = 0; i < N; ++i) {
            wx[i] = spread<q>(weights.d[0].w[i]), gx[i] = spread<q>(weights.d[0].g[i]);
            wy[i] = spread<q>(weights.d[1].w[i]), gy[i] = spread<q>(weights.d[1].g[i]);
        }
        for (int k = 0; k < N; ++k) {
            const Lanes wz = spread<q>(weights.d[2].w[k]), gz = spread<q>(weights.d[2].g[k]);
            const Lanes x = wz * column_x.of[q], y = wz * column_y.of[q];
            Lanes z = gz * column_z.of[q];
            if constexpr (Loads) z += wz * own.of[q];
            for (int j = 0; j < N; ++j) {
                const Lanes across = wy[j] * x, along = gy[j] * y + wy[j] * z;
                for (int i = 0; i < N; ++i) sums[k][j][i] += gx[i] * across + wx[i] * along;
            }
        }
    });
}

/// CIF. `force` += -V tau grad w + w load (Sulsky et al. 1994, eqs. 22, 23, with the undeformed volume and
/// Kirchhoff's stress for the volume and Cauchy's). stress(weights, run, first, n, tau) says what the
/// stresses of a block are: the six of each particle.
template <class Shape, bool Loads, bool Contact = false, class StressOf>
void forces_to_grid(const std::vector<Run>& runs, const Lattice& lattice, const Points& p,
                    double largest_force, const FieldView<double>& force, StressOf stress) {
    const Lanes shift = broadcast(rounding_shift(largest_force));
    const auto one = [&](const Run& run, int g) {
        detail::Sums<Shape> sums = {};
        for (std::int32_t done = 0; done < run.count; done += kLanes) {
            const int n = std::min(kLanes, run.count - done);
            const std::int64_t at = run.first + done;
            const Weights<Shape> weights(lattice, run.cell, p.x, at, n);
            const Symmetric tau = stress(weights, run, at, n);
            const Lanes volume = -of_group<Contact>(load_ahead(p.volume + at, n), p.group + at, n, g);
            Lanes s[6], loads[3];
            for (std::size_t c = 0; c < 6; ++c) s[c] = volume * tau[c];
            if constexpr (Loads)
                for (int c = 0; c < 3; ++c)
                    loads[c] = of_group<Contact>(load_ahead(p.load[c] + at, n), p.group + at, n, g);
            add_forces<Shape, Loads>(weights, n, s, loads, sums);
        }
        detail::add_to_grid<Shape, 3>(sums, run.cell, force, 3 * g, shift);
    };
    for (const Run& run : runs) for_groups<Contact>(p.group, run, [&](int g) { one(run, g); });
}

/// `gradient` += m grad w: out of a body, at its surface (Bardenhagen, Brackbill and Sulsky,
/// Comput. Methods Appl. Mech. Eng. 187 (2000) 529, eq. 20).
template <class Shape>
void gradients_to_grid(const std::vector<Run>& runs, const Lattice& lattice, Points p,
                       double largest_gradient, const FieldView<double>& gradient) {
    p.volume = p.mass;
    const Symmetric unit{broadcast(-1), broadcast(-1), broadcast(-1), Lanes{}, Lanes{}, Lanes{}};
    forces_to_grid<Shape, false, true>(runs, lattice, p, largest_gradient, gradient,
                                       [&](const auto&, const Run&, std::int64_t, int) { return unit; });
}

}  // namespace strata::mpm
