// Eight lines at once: side by side along x, or, where lines go along x, in eight rows.
#include "solvers/flow/scheme/lines.hpp"

#include <algorithm>

#include "solvers/flow/scheme/waves.hpp"

namespace strata::flow {
namespace {

/// Eight values, each `stride` further in memory.
Lanes load_apart(const double* p, std::ptrdiff_t stride, int n) {
#ifdef __AVX512F__
    const __m512i at =
        _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(stride));
    return (Lanes)_mm512_mask_i64gather_pd(_mm512_setzero_pd(), static_cast<__mmask8>((1U << n) - 1), at, p,
                                           8);
#else
    Lanes x{};
    for (int l = 0; l < n; ++l) x[l] = p[l * stride];
    return x;
#endif
}
void store_apart(double* p, std::ptrdiff_t stride, const Lanes& x, int n) {
#ifdef __AVX512F__
    const __m512i at =
        _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(stride));
    _mm512_mask_i64scatter_pd(p, static_cast<__mmask8>((1U << n) - 1), at, (__m512d)x, 8);
#else
    for (int l = 0; l < n; ++l) p[l * stride] = x[l];
#endif
}

template <int Dim, bool along_x>
class Lines {
    static constexpr std::size_t D = Dim, N = Dim + 2;
    static constexpr int kNu = kLineFactors<Dim> - 1;
    using Wave = Waves<Dim>;
    using Cell = WaveCell<Dim>;
    using Vec = Vector<Dim, Lanes>;
    using Column = flow::Column<Dim>;

  public:
    Lines(const LineSet& lines, const Patch<Dim>& patch, const Scheme& scheme, const Diagonals& diagonals)
        : lines_(lines),
          axis_(static_cast<std::size_t>(lines.axis)),
          third_(3 - axis_ - across_),
          patch_(patch),
          scheme_(scheme),
          diagonals_(diagonals),
          gamma_(scheme.gas.gamma) {}

    [[gnu::flatten]] void eliminate(const StepSize& step, const Upwind& given, const Upwind& above,
                                    const FieldView<const double>& factors_above, const Unknowns& g,
                                    const FieldView<double>& factors) const {
        each(-1, [&](const Int3& at, int n, bool first, bool last) {
            const Cell own = cell_at(at, n);
            const Int3 up = moved(at, axis_, 1), down = moved(at, axis_, -1);
            const Vec upper = face(at, axis_, 1, n), lower = face(at, axis_, 0, n);
            Lanes M[N][N], X[N][N + 1];  // M X = (-L | g)

            // The cell itself: time, waves through all faces, friction along the line and beside it.
            std::array<Vec, 2 * D> sides;
            std::array<Lanes, 2 * D> swept;
            sides[0] = lower, sides[1] = upper;
            swept[0] = speed(at, axis_, 0, n), swept[1] = speed(at, axis_, 1, n);
            std::size_t side = 2;
            for (std::size_t a = 0; a < D; ++a)
                if (a != axis_)
                    for (const int by : {0, 1}) {
                        swept[side] = speed(at, a, by, n);
                        sides[side++] = face(at, a, by, n);
                    }
            WaveSum<Dim> sum;
            Lanes squares{}, all{}, largest{};
            for (std::size_t a = 0; a < 2 * D; a += 2) {
                const Wave low(own, sides[a], 0, swept[a]), high(own, sides[a + 1], 0, swept[a + 1]);
                const Lanes square = low.square() + high.square();
                const Lanes radius = low.half_radius(own) + high.half_radius(own) + own.heat * square;
                squares += square, all += radius, largest = max(largest, radius);
                sum.add(low), sum.add(high);
            }
            const Lanes across = (all - largest) * (1 / step.cfl_across);
            Lanes time = max(all * (1 / step.cfl), across) + step.physical * get(patch_.volumes, at, 0, n);
            if (lines_.holds)
                time += select(get(diagonals_.mean, at, 0, n) <= 2 * kHeld, broadcast(1 / kHeld), Lanes{});
            for (std::size_t c = 0; c < N; ++c)
                for (std::size_t r = 0; r < N; ++r) M[r][c] = r == c ? time : Lanes{};
            sum.add_to(M, own, gamma_ - 1);
            if (scheme_.viscous()) add_conduction<Dim>(M, own, squares);

            Column right;
            for (std::size_t r = 0; r < N; ++r) right[r] = get(given.mean, at, static_cast<int>(r), n);
            if (lines_.is_first)
                for (Lanes& x : right) x = -x;
            else
                right = product(M, right);

            // Above: dq_above = g - E dq.
            const LineEnd end = last ? lines_.below : LineEnd::goes_on;
            if (scheme_.eddies() && first && lines_.above == LineEnd::seam) damp(own, upper, swept[1], M);
            if (scheme_.eddies() && end == LineEnd::seam) damp(own, lower, swept[0], M);
            if (!first || (lines_.above != LineEnd::ends && lines_.above != LineEnd::seam)) {
                const Cell cell = cell_at(up, n);
                const Wave waves(cell, upper, -1, swept[1]);
                const bool image = first && lines_.above != LineEnd::goes_on;
                const FieldView<const double> E = first ? factors_above : readable(factors),
                                              before = first ? above.mean : readable(g.mean);
                for (std::size_t c = 0; c < N; ++c) {
                    Column column;
                    if (image)
                        column = imaged(lines_.above, waves.normal(), own, cell, unit(c));
                    else
                        for (std::size_t r = 0; r < N; ++r)
                            column[r] = -get(E, up, static_cast<int>(r * N + c), n);
                    const Column part = coupling(waves, cell, column, -1);
                    for (std::size_t r = 0; r < N; ++r) M[r][c] += part[r];
                }
                if (!image) {
                    Column column;
                    for (std::size_t r = 0; r < N; ++r) column[r] = get(before, up, static_cast<int>(r), n);
                    const Column part = coupling(waves, cell, column, -1);
                    for (std::size_t r = 0; r < N; ++r) right[r] -= part[r];
                }
            }
            // Below: the next cell of the line, an image, or nothing.
            if (end == LineEnd::ends || end == LineEnd::seam) {
                for (auto& row : X) std::fill(row, row + N, Lanes{});
            } else {
                const Cell cell = cell_at(down, n);
                const Wave waves(cell, lower, 1, swept[0]);
                if (end == LineEnd::wall || end == LineEnd::mirrored) {
                    for (std::size_t c = 0; c < N; ++c) {
                        const Column part =
                            coupling(waves, cell, imaged(end, waves.normal(), own, cell, unit(c)), 1);
                        for (std::size_t r = 0; r < N; ++r) M[r][c] -= part[r];
                    }
                    for (auto& row : X) std::fill(row, row + N, Lanes{});
                } else {
                    Lanes L[N][N] = {};
                    WaveSum<Dim> one;
                    one.add(waves);
                    one.add_to(L, cell, gamma_ - 1);
                    if (scheme_.viscous()) add_conduction<Dim>(L, cell, waves.square());
                    for (std::size_t r = 0; r < N; ++r)
                        for (std::size_t c = 0; c < N; ++c) X[r][c] = -L[r][c];
                }
            }
            for (std::size_t r = 0; r < N; ++r) X[r][N] = right[r];
            solve<N + 1>(M, X);
            for (std::size_t r = 0; r < N; ++r) {
                for (std::size_t c = 0; c < N; ++c) put(factors, at, static_cast<int>(r * N + c), X[r][c], n);
                put(g.mean, at, static_cast<int>(r), X[r][N], n);
            }
            for (int m = 0; m < scheme_.model_equations(); ++m)
                eliminate_nu(m, at, n, first, end, own, sides, swept,
                             max(across - all * (1 / step.cfl_turbulence), Lanes{}), given, above,
                             factors_above, g, factors);
        });
    }

    [[gnu::flatten]] void substitute(const Upwind& g, const FieldView<const double>& factors,
                                     const Upwind& below, const Unknowns& change) const {
        each(1, [&](const Int3& at, int n, bool first, bool) {
            const LineEnd end = first ? lines_.below : LineEnd::goes_on;
            const Int3 down = moved(at, axis_, -1);
            Column own;
            for (std::size_t r = 0; r < N; ++r) own[r] = get(g.mean, at, static_cast<int>(r), n);
            const int model = scheme_.model_equations();
            std::array<Lanes, 2> nu{};
            for (int m = 0; m < model; ++m) nu[static_cast<std::size_t>(m)] = get(g.nu_tilde, at, m, n);
            if (end == LineEnd::joined) {
                meet(at, down, n, g, factors, own, nu);
            } else if (end == LineEnd::goes_on) {
                const FieldView<const double> dq = first ? below.mean : readable(change.mean);
                for (std::size_t c = 0; c < N; ++c) {
                    const Lanes next = get(dq, down, static_cast<int>(c), n);
                    for (std::size_t r = 0; r < N; ++r)
                        own[r] -= get(factors, at, static_cast<int>(r * N + c), n) * next;
                }
                for (int m = 0; m < model; ++m)
                    nu[static_cast<std::size_t>(m)] +=
                        get(factors, at, kNu + m, n) *
                        get(first ? below.nu_tilde : readable(change.nu_tilde), down, m, n);
            }
            for (std::size_t r = 0; r < N; ++r) put(change.mean, at, static_cast<int>(r), own[r], n);
            for (int m = 0; m < model; ++m) put(change.nu_tilde, at, m, nu[static_cast<std::size_t>(m)], n);
        });
    }

  private:
    /// Cells of the lines, eight lines at a time, up (1) or down (-1): body(first, lanes, whether it is the
    /// first cell of a line, whether it is the last).
    template <class Body>
    void each(int way, Body&& body) const {
        const Box& cells = lines_.cells;
        const int length = cells.extent(lines_.axis);
        for (int other = cells.lo[third_]; other < cells.hi[third_]; ++other)
            for (int step = 0; step < length; ++step) {
                Int3 at{};
                at[axis_] = way > 0 ? cells.lo[axis_] + step : cells.hi[axis_] - 1 - step;
                at[third_] = other;
                for (int i = cells.lo[across_]; i < cells.hi[across_]; i += kLanes) {
                    at[across_] = i;
                    body(at, std::min(kLanes, cells.hi[across_] - i), step == 0, step == length - 1);
                }
            }
    }
    [[nodiscard]] static Int3 moved(Int3 at, std::size_t axis, int by) {
        at[axis] += by;
        return at;
    }
    [[nodiscard]] Lanes get(const FieldView<const double>& f, const Int3& at, int c, int n) const {
        if constexpr (along_x)
            return load_apart(graph::pointer_to(f.row(at[1], at[2], c) + at[0], 1), f.stride(1), n);
        else
            return load(f, at[0], at[1], at[2], c, n);
    }
    void put(const FieldView<double>& f, const Int3& at, int c, const Lanes& x, int n) const {
        if constexpr (along_x)
            store_apart(graph::pointer_to(f.row(at[1], at[2], c) + at[0], 1), f.stride(1), x, n);
        else
            store(f, at[0], at[1], at[2], c, x, n);
    }
    [[nodiscard]] Vec face(const Int3& cell, std::size_t axis, int by, int n) const {
        const Int3 at = moved(cell, axis, by);
        Vec s;
        for (std::size_t d = 0; d < D; ++d) s[d] = get(patch_.faces[axis], at, static_cast<int>(d), n);
        return s;
    }
    /// What a face sweeps where the grid moves.
    [[nodiscard]] Lanes speed(const Int3& cell, std::size_t axis, int by, int n) const {
        return patch_.moves() ? get(patch_.speeds[axis], moved(cell, axis, by), 0, n) : Lanes{};
    }
    [[nodiscard]] Cell cell_at(const Int3& at, int n) const {
        Cell cell;
        const Lanes over = 1.0 / get(patch_.q, at, 0, n);
        for (std::size_t d = 0; d < D; ++d) cell.u[d] = get(patch_.q, at, static_cast<int>(d) + 1, n) * over;
        cell.half_square = 0.5 * dot(cell.u, cell.u);
        cell.E = get(patch_.q, at, Dim + 1, n) * over;
        const Lanes a2 = (gamma_ * (gamma_ - 1)) * (cell.E - cell.half_square);
        cell.H = cell.E + a2 * (1 / gamma_);
        cell.a = sqrt(a2);
        cell.heat = scheme_.viscous() ? get(diagonals_.viscosity, at, 0, n) : Lanes{};
        cell.momentum = scheme_.viscous() ? get(diagonals_.viscosity, at, 2, n) : Lanes{};
        return cell;
    }
    [[nodiscard]] static Column unit(std::size_t c) {
        Column column{};
        column[c] = broadcast(1);
        return column;
    }
    /// At seams of turbulent flow the cells on both sides would otherwise go up and down by turns. (Laminar
    /// flow does without, and settles sooner.)
    static void damp(const Cell& cell, const Vec& s, const Lanes& swept, Lanes (&M)[N][N]) {
        const Lanes half_radius = Wave(cell, s, 0, swept).half_radius(cell);
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
        if (!patch_.moves()) return mirrored(end, normal, dq);
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
    /// Equation m of the model. `slower`: V/dt beyond that of diagonals().
    void eliminate_nu(int m, const Int3& at, int n, bool first, LineEnd end, const Cell& own,
                      const std::array<Vec, 2 * D>& sides, const std::array<Lanes, 2 * D>& swept,
                      const Lanes& slower, const Upwind& given, const Upwind& above,
                      const FieldView<const double>& factors_above, const Unknowns& g,
                      const FieldView<double>& factors) const {
        const Lanes diffusion = get(diagonals_.viscosity, at, diffusion_of(m), n), zero{};
        // Of the change across a face, up the index or against it.
        const auto from = [&](std::size_t side, double sign) {
            const Vec& s = sides[side];
            return max(sign * (dot(own.u, s) - swept[side]), zero) + diffusion * dot(s, s);
        };
        Lanes own_part = 1.0 / get(diagonals_.nu_tilde, at, m, n) + slower;
        Lanes right = get(given.nu_tilde, at, m, n), e{};
        right = lines_.is_first ? -right : own_part * right;
        const Int3 up = moved(at, axis_, 1);
        const Lanes upper = from(1, -1), lower = from(0, 1);
        const LineEnd top = first ? lines_.above : LineEnd::goes_on;
        if (top == LineEnd::goes_on) {
            own_part -= upper * get(first ? factors_above : readable(factors), up, kNu + m, n);
            right += upper * get(first ? above.nu_tilde : readable(g.nu_tilde), up, m, n);
        } else {
            own_part -= image_of_nu(top) * upper;
        }
        if (end == LineEnd::goes_on || end == LineEnd::joined)
            e = lower / own_part;
        else
            own_part -= image_of_nu(end) * lower;
        put(factors, at, kNu + m, e, n);
        put(g.nu_tilde, at, m, right / own_part, n);
    }
    [[nodiscard]] static double image_of_nu(LineEnd end) {
        return end == LineEnd::wall ? -1 : end == LineEnd::mirrored ? 1 : 0;
    }

    /// The last cells of two lines: dq = g - E (g' - E' dq).
    void meet(const Int3& at, const Int3& there, int n, const Upwind& g,
              const FieldView<const double>& factors, Column& own, std::array<Lanes, 2>& nu) const {
        Lanes E[N][N], M[N][N], X[N][1];
        for (std::size_t r = 0; r < N; ++r)
            for (std::size_t c = 0; c < N; ++c)
                E[r][c] = get(factors, at, static_cast<int>(r * N + c), n),
                M[r][c] = r == c ? broadcast(1) : Lanes{};
        for (std::size_t k = 0; k < N; ++k) {
            const Lanes other = get(g.mean, there, static_cast<int>(k), n);
            for (std::size_t r = 0; r < N; ++r) own[r] -= E[r][k] * other;
            for (std::size_t c = 0; c < N; ++c) {
                const Lanes beyond = get(factors, there, static_cast<int>(k * N + c), n);
                for (std::size_t r = 0; r < N; ++r) M[r][c] -= E[r][k] * beyond;
            }
        }
        for (std::size_t r = 0; r < N; ++r) X[r][0] = own[r];
        solve<1>(M, X);
        for (std::size_t r = 0; r < N; ++r) own[r] = X[r][0];
        for (int m = 0; m < scheme_.model_equations(); ++m) {
            Lanes& change = nu[static_cast<std::size_t>(m)];
            const Lanes e = get(factors, at, kNu + m, n);
            change =
                (change + e * get(g.nu_tilde, there, m, n)) / (1.0 - e * get(factors, there, kNu + m, n));
        }
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

    static constexpr std::size_t across_ = along_x ? 1 : 0;
    const LineSet& lines_;
    std::size_t axis_, third_;
    const Patch<Dim>& patch_;
    const Scheme& scheme_;
    const Diagonals& diagonals_;
    double gamma_;
};

template <int Dim>
Patch<Dim> no_patch() {
    if constexpr (Dim == 2)
        return {no_field(), no_field(), {no_field(), no_field()}, no_field(), no_field(), no_field()};
    else
        return {no_field(), no_field(), {no_field(), no_field(), no_field()},
                no_field(), no_field(), no_field()};
}

}  // namespace

template <int Dim>
void eliminate_lines(const LineSet& lines, const Patch<Dim>& patch, const Scheme& scheme,
                     const StepSize& step, const Diagonals& diagonals, const Upwind& given,
                     const Upwind& above, const FieldView<const double>& factors_above, const Unknowns& g,
                     const FieldView<double>& factors) {
    if (lines.axis == 0)
        Lines<Dim, true>(lines, patch, scheme, diagonals)
            .eliminate(step, given, above, factors_above, g, factors);
    else
        Lines<Dim, false>(lines, patch, scheme, diagonals)
            .eliminate(step, given, above, factors_above, g, factors);
}

template <int Dim>
void substitute_lines(const LineSet& lines, const Scheme& scheme, const Upwind& g,
                      const FieldView<const double>& factors, const Upwind& below, const Unknowns& change) {
    const Patch<Dim> none = no_patch<Dim>();
    const Diagonals no_diagonals{no_field(), no_field(), no_field()};
    if (lines.axis == 0)
        Lines<Dim, true>(lines, none, scheme, no_diagonals).substitute(g, factors, below, change);
    else
        Lines<Dim, false>(lines, none, scheme, no_diagonals).substitute(g, factors, below, change);
}

#define STRATA_FLOW_LINES(Dim)                                                                              \
    template void eliminate_lines<Dim>(                                                                     \
        const LineSet&, const Patch<Dim>&, const Scheme&, const StepSize&, const Diagonals&, const Upwind&, \
        const Upwind&, const FieldView<const double>&, const Unknowns&, const FieldView<double>&);          \
    template void substitute_lines<Dim>(const LineSet&, const Scheme&, const Upwind&,                       \
                                        const FieldView<const double>&, const Upwind&, const Unknowns&);
STRATA_FLOW_LINES(2)
STRATA_FLOW_LINES(3)
#undef STRATA_FLOW_LINES

}  // namespace strata::flow
