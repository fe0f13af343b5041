// Internal forces as integrals over cells: CIF with method.quadrature = "cells".
//
// Particles are a quadrature whose error does not shrink with the cells where they are not evenly spread: of
// a constant stress sigma a grid point inside a body should feel none, and feels sigma times the error of
// sum v grad w, which is sigma / h times a share that depends on how points lie in cells alone (Steffen,
// Kirby and Berzins, Int. J. Numer. Meth. Eng. 76 (2008) 922, sec. 5; v: volume now). So in each cell that is
// full the part of the stress that varies slowly is integrated exactly, and particles stand for the rest
// alone:
//
//   f_i = - integral of s grad w_i - sum over particles of v (sigma - s(x)) grad w_i,
//   s(x) = mean + slope (x - centre).
//
// Mean and centre are means over the cell's particles, weighted by v; the slope is fitted to the means of the
// cells beside it, by least squares. The integral goes by 2 x 2 x 2 Gauss points, which are exact for it: the
// stress is mapped to cell quadrature points, as it is by Sulsky and Gong (Improving the material-point
// method, in: Innovative numerical approaches for multi-field and multi-scale problems, Springer 2016, 217)
// and by Wobbes, Moeller, Galavi and Vuik (Int. J. Numer. Meth. Eng. 117 (2019) 271). These drop the second
// sum. It is what resists motions that cell means do not see: without it they grow (docs/mpm.md).
//
// Each sum over i vanishes as that of grad w_i does: momentum is kept whatever s is; and angular momentum,
// since s is symmetric and sum of x_i grad w_i is 1.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "solvers/mpm/scatter.hpp"

namespace strata::mpm {

/// Sums over a cell's particles: V tau (xx, yy, zz, xy, yz, zx), v = V J, and v times the place relative to
/// the cell's middle, in m.
inline constexpr int kCellSums = 10;

class CellSums {
  public:
    void add(const Weights<Quadratic>& weights, const Lanes& volume, const Lanes& J, const Symmetric& tau) {
        const Lanes now = volume * J;
        for (std::size_t c = 0; c < 6; ++c) sums_[c] += volume * tau[c];
        sums_[6] += now;
        for (std::size_t a = 0; a < 3; ++a) sums_[7 + a] += now * -weights.d[a].away[1];
    }
    void keep(const Int3& cell, const FieldView<double>& all) const {
        for (int c = 0; c < kCellSums; ++c)
            all(cell[0], cell[1], cell[2], c) = lane_sum(sums_[static_cast<std::size_t>(c)]);
    }

  private:
    std::array<Lanes, kCellSums> sums_{};
};

inline void clear_cell_sums(const FieldView<double>& all) {
    const Box box = all.box();
    for (int c = 0; c < kCellSums; ++c)
        for (int k = box.lo[2]; k < box.hi[2]; ++k)
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                std::fill_n(graph::pointer_to(all.row(j, k, c) + box.lo[0], box.extent(0)), box.extent(0),
                            0.0);
}

/// A cell's stress: at x metres from its middle middle + slope x, xx, yy, zz, xy, yz, zx in the first lanes.
struct CellStress {
    Lanes middle, slope[3];

    [[nodiscard]] Lanes at(const Lanes (&x)[3], int component) const {
        return middle[component] + slope[0][component] * x[0] + slope[1][component] * x[1] +
               slope[2][component] * x[2];
    }
};

/// Whether a cell is full: whether there are particles in it and in all around it. (What lies beyond a wall
/// is not in the view, and counts as full.)
inline bool is_full(const FieldView<const double>& sums, const Int3& cell) {
    const Box box = sums.box();
    for (int k = std::max(cell[2] - 1, box.lo[2]); k < std::min(cell[2] + 2, box.hi[2]); ++k)
        for (int j = std::max(cell[1] - 1, box.lo[1]); j < std::min(cell[1] + 2, box.hi[1]); ++j)
            for (int i = std::max(cell[0] - 1, box.lo[0]); i < std::min(cell[0] + 2, box.hi[0]); ++i)
                if (!(Real(sums(i, j, k, 6)) > 0)) return false;
    return true;
}

/// The normal equations m slope = r of a cell's stress, for one along each axis that is used.
struct SlopeEquations {
    Real m[3][3] = {};
    Lanes r[3] = {};
    bool used[3];

    /// Another mean, so far away, with so much more stress.
    void add(const Real (&d)[3], const Lanes& more) {
        for (std::size_t b = 0; b < 3; ++b) {
            if (!used[b]) continue;
            r[b] += more * d[b];
            for (std::size_t c = 0; c <= b; ++c)
                if (used[c]) m[b][c] = m[b][c] + d[b] * d[c];
        }
    }

    /// By Cholesky's factors. Where particles crowd at a face so that two means are in one place, nothing is
    /// known of the slope across it, and it is taken for 0. `h`: of cells; `place`: of the cell's mean.
    [[nodiscard]] CellStress solve(const Lanes& mean, const Real (&place)[3], const Real3& h) {
        for (std::size_t a = 0; a < 3; ++a)
            if (!used[a]) m[a][a] = h[a] * h[a];
        CellStress fitted;
        fitted.middle = mean;
        for (std::size_t b = 0; b < 3; ++b) {
            for (std::size_t c = 0; c < b; ++c) {
                for (std::size_t e = 0; e < c; ++e) m[b][c] = m[b][c] - m[b][e] * m[c][e];
                m[b][c] = m[b][c] * m[c][c];
                m[b][b] = m[b][b] - m[b][c] * m[b][c];
                r[b] = r[b] - r[c] * m[b][c];
            }
            m[b][b] = m[b][b] > 1e-3 * h[b] * h[b] ? Real(1.0 / sqrt(m[b][b])) : Real(0);
            r[b] = r[b] * m[b][b];
        }
        for (std::size_t b = 3; b-- > 0;) {
            for (std::size_t c = b + 1; c < 3; ++c) r[b] = r[b] - fitted.slope[c] * m[c][b];
            fitted.slope[b] = r[b] * m[b][b];
            fitted.middle = fitted.middle - fitted.slope[b] * place[b];
        }
        return fitted;
    }
};

/// Fits the stress of a full cell to its own mean and the means beside it.
inline CellStress fit_stress(const FieldView<const double>& sums, const Int3& cell, const Real3& h) {
    struct Mean {
        Lanes stress;
        Real place[3];
    };
    const auto mean = [&](const Int3& at) {
        const auto of = [&](int c) { return Real(sums(at[0], at[1], at[2], c)); };
        const Real share = 1.0 / of(6);
        return Mean{Lanes{of(0), of(1), of(2), of(3), of(4), of(5), Real(0), Real(0)} * share,
                    {of(7) * share, of(8) * share, of(9) * share}};
    };
    const Box box = sums.box();
    const Mean own = mean(cell);
    SlopeEquations equations;
    // Where an axis has one cell nothing changes along it.
    for (std::size_t a = 0; a < 3; ++a) equations.used[a] = box.extent(static_cast<int>(a)) > 1;
    for (std::size_t a = 0; a < 3; ++a)
        for (const int side : {-1, 1}) {
            Int3 at = cell;
            at[a] += side;
            if (at[a] < box.lo[a] || at[a] >= box.hi[a]) continue;
            const Mean beside = mean(at);
            Real d[3];
            for (std::size_t b = 0; b < 3; ++b) {
                if (!equations.used[b]) continue;
                d[b] = beside.place[b] - own.place[b];
                if (a == b) d[b] = d[b] + side * h[a];
            }
            equations.add(d, beside.stress - own.stress);
        }
    return equations.solve(own.stress, own.place, h);
}

/// The 2 x 2 x 2 Gauss points of a cell: as of eight particles.
struct GaussPoints {
    Lanes x[3];  // from the cell's middle, in m
    Weights<Quadratic> weights;
    double volume;

    explicit GaussPoints(const Lattice& lattice) : GaussPoints(lattice, places()) {}

  private:
    struct Places {
        Lanes xi[3];
    };
    static Places places() {
        const double low = 0.5 - std::sqrt(1.0 / 12), high = 0.5 + std::sqrt(1.0 / 12);
        Places all;
        for (int q = 0; q < kLanes; ++q)
            for (int a = 0; a < 3; ++a) all.xi[a][q] = (q >> a) % 2 == 0 ? low : high;
        return all;
    }
    GaussPoints(const Lattice& lattice, const Places& at)
        : weights(lattice, at.xi), volume(lattice.h[0] * lattice.h[1] * lattice.h[2] / 8) {
        for (std::size_t a = 0; a < 3; ++a) x[a] = -weights.d[a].away[1];
    }
};

/// CIF: `force` += what is said above + w load. Kirchhoff's stresses and J = det F of the points; `cells`:
/// CellSums, with a layer of neighbours' cells.
template <bool Loads>
void forces_of_cells(const std::vector<Run>& runs, const Lattice& lattice, const Points& p,
                     const double* const (&stresses)[6], const double* J,
                     const FieldView<const double>& cells, double largest_force,
                     const FieldView<double>& force) {
    const Lanes shift = broadcast(rounding_shift(largest_force));
    const GaussPoints gauss(lattice);
    for (const Run& run : runs) {
        detail::Sums<Quadratic> sums = {};
        const bool full = is_full(cells, run.cell);
        CellStress fitted{};  // as GCC does not see that it is read only where the cell is full
        if (full) fitted = fit_stress(cells, run.cell, lattice.h);
        for_blocks(run, [&](std::int64_t first, int n) {
            const Weights<Quadratic> weights(lattice, run.cell, p.x, first, n);
            const Lanes volume = -load_ahead(p.volume + first, n);
            Lanes s[6], loads[3], x[3];
            const Lanes ratio = full ? load_ahead(J + first, n) : Lanes{};
            for (std::size_t a = 0; a < 3; ++a) x[a] = -weights.d[a].away[1];
            for (int c = 0; c < 6; ++c) {
                const Lanes tau = load_ahead(stresses[c] + first, n);
                s[c] = volume * (full ? tau - ratio * fitted.at(x, c) : tau);
            }
            if constexpr (Loads)
                for (int c = 0; c < 3; ++c) loads[c] = load_ahead(p.load[c] + first, n);
            add_forces<Quadratic, Loads>(weights, n, s, loads, sums);
        });
        if (full) {
            Lanes s[6], none[3];
            for (int c = 0; c < 6; ++c) s[c] = -gauss.volume * fitted.at(gauss.x, c);
            add_forces<Quadratic, false>(gauss.weights, kLanes, s, none, sums);
        }
        detail::add_to_grid<Quadratic, 3>(sums, run.cell, force, 0, shift);
    }
}

}  // namespace strata::mpm
