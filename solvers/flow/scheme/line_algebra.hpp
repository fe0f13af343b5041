// The equations of one cell of a line: its own matrix, what couples it to the cells beside it, and their
// solution. In lanes: a cell of each of eight lines at once.
#pragma once

#include <array>
#include <cstddef>

#include "solvers/flow/scheme/lines.hpp"
#include "solvers/flow/scheme/waves.hpp"

namespace strata::flow {

template <int Dim>
class LineAlgebra {
  protected:
    static constexpr std::size_t D = Dim, N = Dim + 2;
    using Wave = Waves<Dim>;
    using Cell = WaveCell<Dim>;
    using Vec = Vector<Dim, Lanes>;
    using Column = flow::Column<Dim>;

    /// A face of a cell, and what it sweeps.
    struct Side {
        Vec s;
        Lanes swept;
    };
    /// Of an equation of the model: dnu = g + e dnu_below.
    struct NuFactor {
        Lanes e{}, g{};
    };

    LineAlgebra(const LineSet& lines, const Scheme& scheme, bool moves)
        : lines_(lines), scheme_(scheme), gamma_(scheme.gas.gamma), moves_(moves) {}

    [[nodiscard]] static Wave wave(const Cell& cell, const Side& side, int way) {
        return Wave(cell, side.s, way, side.swept);
    }

    /// Numbers of values of a cell, after its state: where the flow is viscous, of heat and momentum (else
    /// they are not used).
    static constexpr int kHeat = Dim + 2, kMomentum = Dim + 3, kCellValues = Dim + 4;
    /// `value(n)`: number n of these.
    template <class Value>
    [[nodiscard]] Cell cell_of(const Value& value) const {
        Cell cell;
        const Lanes over = 1.0 / value(0);
        for (std::size_t d = 0; d < D; ++d) cell.u[d] = value(static_cast<int>(d) + 1) * over;
        cell.half_square = 0.5 * dot(cell.u, cell.u);
        cell.E = value(Dim + 1) * over;
        const Lanes a2 = (gamma_ * (gamma_ - 1)) * (cell.E - cell.half_square);
        cell.H = cell.E + a2 * (1 / gamma_);
        cell.a = sqrt(a2);
        cell.heat = scheme_.viscous() ? value(kHeat) : Lanes{};
        cell.momentum = scheme_.viscous() ? value(kMomentum) : Lanes{};
        return cell;
    }
    /// D in M, and the V/dt that it has beyond that of diagonals() for the model. `physical`: V times that of
    /// the step. `inverse`: 1 / D of diagonals(), which says which cells are held.
    [[nodiscard]] Lanes find_matrix(Lanes (&M)[N][N], const Cell& own, const std::array<Side, 2 * D>& sides,
                                    const StepSize& step, const Lanes& physical, const Lanes& inverse) const {
        WaveSum<Dim> sum;
        Lanes squares{}, all{}, largest{};
        for (std::size_t a = 0; a < 2 * D; a += 2) {
            const Wave low = wave(own, sides[a], 0), high = wave(own, sides[a + 1], 0);
            const Lanes square = low.square() + high.square();
            const Lanes radius = low.half_radius(own) + high.half_radius(own) + own.heat * square;
            squares += square, all += radius, largest = max(largest, radius);
            sum.add(low), sum.add(high);
        }
        const Lanes across = (all - largest) * (1 / step.cfl_across);
        Lanes time = max(all * (1 / step.cfl), across) + physical;
        if (lines_.holds) time += select(inverse <= 2 * kHeld, broadcast(1 / kHeld), Lanes{});
        for (std::size_t c = 0; c < N; ++c)
            for (std::size_t r = 0; r < N; ++r) M[r][c] = r == c ? time : Lanes{};
        sum.add_to(M, own, gamma_ - 1);
        if (scheme_.viscous()) add_conduction<Dim>(M, own, squares);
        return max(across - all * (1 / step.cfl_turbulence), Lanes{});
    }
    [[nodiscard]] static Column unit(std::size_t c) {
        Column column{};
        column[c] = broadcast(1);
        return column;
    }
    /// At seams of turbulent flow the cells on both sides would otherwise go up and down by turns. (Laminar
    /// flow does without, and settles sooner.)
    static void damp(const Cell& cell, const Side& side, Lanes (&M)[N][N]) {
        const Lanes half_radius = wave(cell, side, 0).half_radius(cell);
        for (std::size_t r = 0; r < N; ++r) M[r][r] += half_radius;
    }
    /// ((A . S + way |A . S|) / 2 + way K) dq.
    [[nodiscard]] Column coupling(const Wave& waves, const Cell& cell, const Column& dq, int way) const {
        Column sum = waves.times(cell, gamma_ - 1, dq);
        if (!scheme_.viscous()) return sum;
        const Column part = conducted<Dim>(cell, dq);
        const Lanes by = static_cast<double>(way) * waves.square();
        for (std::size_t r = 0; r < N; ++r) sum[r] += by * part[r];
        return sum;
    }
    /// The change of the image beyond a wall or symmetry, of the cell before it. A wall that moves does so at
    /// the mean of their velocities.
    [[nodiscard]] Column imaged(LineEnd end, const Vec& normal, const Cell& cell, const Cell& image,
                                Column dq) const {
        if (!moves_) return mirrored(end, normal, dq);
        // In the wall's frame: velocities less w, energies less w . m - w^2 rho / 2.
        Vec w;
        for (std::size_t d = 0; d < D; ++d) w[d] = 0.5 * (cell.u[d] + image.u[d]);
        const Lanes half_square = 0.5 * dot(w, w);
        const auto see = [&](double sign) {
            Lanes work{};
            if (sign > 0)
                for (std::size_t d = 0; d < D; ++d) dq[d + 1] += w[d] * dq[0];
            for (std::size_t d = 0; d < D; ++d) work += w[d] * dq[d + 1];
            dq[D + 1] += sign * (work - half_square * dq[0]);
            if (sign < 0)
                for (std::size_t d = 0; d < D; ++d) dq[d + 1] -= w[d] * dq[0];
        };
        see(-1);
        dq = mirrored(end, normal, dq);
        see(1);
        return dq;
    }
    [[nodiscard]] static Column mirrored(LineEnd end, const Vec& normal, Column dq) {
        if (end == LineEnd::wall) {
            for (std::size_t d = 0; d < D; ++d) dq[d + 1] = -dq[d + 1];
            return dq;
        }
        Lanes through{};
        for (std::size_t d = 0; d < D; ++d) through += normal[d] * dq[d + 1];
        for (std::size_t d = 0; d < D; ++d) dq[d + 1] -= 2.0 * through * normal[d];
        return dq;
    }
    /// An equation of the model: factors of a cell from those of the cell above. `top`, `end`: what is there
    /// above and below. `slower`: V/dt beyond that of diagonals(). Sides: lower, upper.
    [[nodiscard]] NuFactor eliminate_nu(const NuFactor& above, LineEnd top, LineEnd end, const Cell& own,
                                        const std::array<Side, 2>& sides, const Lanes& slower,
                                        const Lanes& diffusion, const Lanes& inverse,
                                        const Lanes& given) const {
        const Lanes zero{};
        // Of the change across a face, up the index or against it.
        const auto from = [&](std::size_t face, double sign) {
            const auto& [s, swept] = sides[face];
            return max(sign * (dot(own.u, s) - swept), zero) + diffusion * dot(s, s);
        };
        Lanes own_part = 1.0 / inverse + slower;
        Lanes right = lines_.is_first ? Lanes(-given) : Lanes(own_part * given), e{};
        const Lanes upper = from(1, -1), lower = from(0, 1);
        if (top == LineEnd::goes_on) {
            own_part -= upper * above.e;
            right += upper * above.g;
        } else {
            own_part -= image_of_nu(top) * upper;
        }
        if (end == LineEnd::goes_on || end == LineEnd::joined)
            e = lower / own_part;
        else
            own_part -= image_of_nu(end) * lower;
        return {e, right / own_part};
    }
    [[nodiscard]] static double image_of_nu(LineEnd end) {
        return end == LineEnd::wall ? -1 : end == LineEnd::mirrored ? 1 : 0;
    }

    static Column product(const Lanes (&M)[N][N], const Column& x) {
        Column sum{};
        for (std::size_t r = 0; r < N; ++r)
            for (std::size_t c = 0; c < N; ++c) sum[r] += M[r][c] * x[c];
        return sum;
    }
    /// Gauss' elimination without pivots: the diagonal is at least the sum of what couples.
    template <std::size_t C>
    static void solve(Lanes (&M)[N][N], Lanes (&X)[N][C]) {
        for (std::size_t p = 0; p < N; ++p) {
            const Lanes over = 1.0 / M[p][p];
            for (std::size_t c = p + 1; c < N; ++c) M[p][c] *= over;
            for (std::size_t c = 0; c < C; ++c) X[p][c] *= over;
            for (std::size_t r = p + 1; r < N; ++r) {
                const Lanes by = M[r][p];
                for (std::size_t c = p + 1; c < N; ++c) M[r][c] -= by * M[p][c];
                for (std::size_t c = 0; c < C; ++c) X[r][c] -= by * X[p][c];
            }
        }
        for (std::size_t p = N; p-- > 1;)
            for (std::size_t r = 0; r < p; ++r)
                for (std::size_t c = 0; c < C; ++c) X[r][c] -= M[r][p] * X[p][c];
    }

    const LineSet& lines_;
    const Scheme& scheme_;
    double gamma_;
    bool moves_;
};

}  // namespace strata::flow
