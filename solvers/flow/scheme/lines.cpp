#include "solvers/flow/scheme/lines.hpp"

#include <algorithm>

#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/lanes.hpp"

namespace strata::flow {
namespace {

template <int Dim>
class Lines {
    static constexpr std::size_t D = Dim, N = Dim + 2;
    using Vec = Vector<Dim, Lanes>;
    using Column = std::array<Lanes, N>;
    /// What the coupling to a cell is made of.
    struct Cell {
        Vec u;
        Lanes H, a, viscosity;
    };

  public:
    Lines(int axis, const Patch<Dim>& patch, const Scheme& scheme, const Diagonals& diagonals)
        : axis_(axis), patch_(patch), scheme_(scheme), diagonals_(diagonals), gamma_(scheme.gas.gamma) {}

    void eliminate(const Box& cells, const std::array<bool, 2>& open, const Upwind& behind,
                   const FieldView<const double>& factors_behind, const FieldView<double>& factors,
                   const Unknowns& unknowns) const {
        each(cells, 1, [&](int i, int j, int k, int n, bool first, bool last) {
            const Int3 at{i, j, k}, below = beside(at, -1), above = beside(at, 1);
            const Vec lower = face(at), upper = face(above);
            const Cell own = cell_at(at, n);
            Lanes M[N][N], X[N][N + 1];  // M X = (U | g)
            // Across the line the diagonal has the radii of lusgs.hpp; along it |A|.
            const Lanes diagonal = 1.0 / load(diagonals_.mean, i, j, k, 0, n) -
                                   0.5 * (convective_radius(own, lower) + convective_radius(own, upper));
            for (std::size_t c = 0; c < N; ++c) {
                Column unit{};
                unit[c] = broadcast(1);
                const Column below_part = absolute(own, lower, unit), above_part = absolute(own, upper, unit);
                for (std::size_t r = 0; r < N; ++r)
                    M[r][c] = 0.5 * (below_part[r] + above_part[r]) + diagonal * unit[r];
            }
            for (std::size_t r = 0; r < N; ++r)
                X[r][N] = -load(readable(unknowns.mean), i, j, k, static_cast<int>(r), n);
            const bool coupled = !first || open[0];
            if (coupled) {
                const Cell cell = cell_at(below, n);
                const FieldView<const double> E = first ? factors_behind : readable(factors);
                const FieldView<const double> g = first ? behind.mean : readable(unknowns.mean);
                Column column;
                for (std::size_t c = 0; c <= N; ++c) {
                    for (std::size_t r = 0; r < N; ++r)
                        column[r] =
                            c < N ? load(E, below[0], below[1], below[2], static_cast<int>(r * N + c), n)
                                  : load(g, below[0], below[1], below[2], static_cast<int>(r), n);
                    const Column part = coupling(cell, lower, column, 1);
                    for (std::size_t r = 0; r < N; ++r) (c < N ? M[r][c] : X[r][N]) += part[r];
                }
            }
            if (!last || open[1]) {
                const Cell cell = cell_at(above, n);
                for (std::size_t c = 0; c < N; ++c) {
                    Column unit{};
                    unit[c] = broadcast(1);
                    const Column part = coupling(cell, upper, unit, -1);
                    for (std::size_t r = 0; r < N; ++r) X[r][c] = part[r];
                }
            } else {
                for (auto& row : X) std::fill(row, row + N, Lanes{});
            }
            solve(M, X);
            for (std::size_t r = 0; r < N; ++r) {
                for (std::size_t c = 0; c < N; ++c)
                    store(factors, i, j, k, static_cast<int>(r * N + c), X[r][c], n);
                store(unknowns.mean, i, j, k, static_cast<int>(r), X[r][N], n);
            }
            if (!scheme_.turbulent()) return;
            const Vec& u = own.u;
            const Lanes diffusion = load(diagonals_.viscosity, i, j, k, 1, n);
            Lanes m = 1.0 / load(diagonals_.nu_tilde, i, j, k, 0, n);
            Lanes g = -load(readable(unknowns.nu_tilde), i, j, k, 0, n), e{};
            constexpr int kNu = kLineFactors<Dim> - 1;
            if (coupled) {
                const Lanes l = max(dot(u, lower), Lanes{}) + diffusion * dot(lower, lower);
                const FieldView<const double> E = first ? factors_behind : readable(factors);
                const FieldView<const double> before = first ? behind.nu_tilde : readable(unknowns.nu_tilde);
                m -= l * load(E, below[0], below[1], below[2], kNu, n);
                g += l * load(before, below[0], below[1], below[2], 0, n);
            }
            if (!last || open[1]) e = (max(-dot(u, upper), Lanes{}) + diffusion * dot(upper, upper)) / m;
            store(factors, i, j, k, kNu, e, n);
            store(unknowns.nu_tilde, i, j, k, 0, g / m, n);
        });
    }

    void substitute(const Box& cells, bool open, const Upwind& ahead, const FieldView<const double>& factors,
                    const Unknowns& unknowns) const {
        each(cells, -1, [&](int i, int j, int k, int n, bool first, bool) {
            if (first && !open) return;
            const Int3 above = beside({i, j, k}, 1);
            const FieldView<const double> dq = first ? ahead.mean : readable(unknowns.mean);
            Column next;
            for (std::size_t c = 0; c < N; ++c)
                next[c] = load(dq, above[0], above[1], above[2], static_cast<int>(c), n);
            for (std::size_t r = 0; r < N; ++r) {
                Lanes own = load(readable(unknowns.mean), i, j, k, static_cast<int>(r), n);
                for (std::size_t c = 0; c < N; ++c)
                    own -= load(factors, i, j, k, static_cast<int>(r * N + c), n) * next[c];
                store(unknowns.mean, i, j, k, static_cast<int>(r), own, n);
            }
            if (!scheme_.turbulent()) return;
            const FieldView<const double> dnu = first ? ahead.nu_tilde : readable(unknowns.nu_tilde);
            const Lanes own = load(readable(unknowns.nu_tilde), i, j, k, 0, n) +
                              load(factors, i, j, k, kLineFactors<Dim> - 1, n) *
                                  load(dnu, above[0], above[1], above[2], 0, n);
            store(unknowns.nu_tilde, i, j, k, 0, own, n);
        });
    }

  private:
    /// Rows of a box, up (1) or down (-1) along the lines: body(i, j, k, n, first, last).
    template <class Body>
    void each(const Box& cells, int way, Body&& body) const {
        const auto a = static_cast<std::size_t>(axis_), b = axis_ == 1 ? std::size_t{2} : std::size_t{1};
        for (int other = cells.lo[b]; other < cells.hi[b]; ++other)
            for (int step = 0; step < cells.extent(axis_); ++step) {
                Int3 at{};
                at[a] = way > 0 ? cells.lo[a] + step : cells.hi[a] - 1 - step;
                at[b] = other;
                for (int i = cells.lo[0]; i < cells.hi[0]; i += kLanes)
                    body(i, at[1], at[2], std::min(kLanes, cells.hi[0] - i), step == 0,
                         step == cells.extent(axis_) - 1);
            }
    }
    [[nodiscard]] Int3 beside(Int3 at, int by) const {
        at[static_cast<std::size_t>(axis_)] += by;
        return at;
    }
    /// Below a cell. Loads up to eight values: lanes beyond a row's end hold those of nobody, finite or not.
    [[nodiscard]] Vec face(const Int3& at) const {
        const FieldView<const double>& s = patch_.faces[static_cast<std::size_t>(axis_)];
        const int n = std::min(kLanes, s.box().hi[0] - at[0]);
        Vec v;
        for (std::size_t d = 0; d < D; ++d) v[d] = load(s, at[0], at[1], at[2], static_cast<int>(d), n);
        return v;
    }
    [[nodiscard]] Cell cell_at(const Int3& at, int n) const {
        const auto q = [&](int c) { return load(patch_.q, at[0], at[1], at[2], c, n); };
        Cell cell;
        const Lanes over = 1.0 / q(0);
        for (std::size_t d = 0; d < D; ++d) cell.u[d] = q(static_cast<int>(d) + 1) * over;
        const Lanes square = dot(cell.u, cell.u), E = q(Dim + 1) * over;
        const Lanes a2 = (gamma_ * (gamma_ - 1)) * (E - 0.5 * square);
        cell.H = E + a2 * (1 / gamma_);
        cell.a = sqrt(a2);
        cell.viscosity = scheme_.viscous() ? load(diagonals_.viscosity, at[0], at[1], at[2], 0, n) : Lanes{};
        return cell;
    }
    [[nodiscard]] static Lanes convective_radius(const Cell& cell, const Vec& s) {
        return abs(dot(cell.u, s)) + cell.a * sqrt(dot(s, s));
    }
    [[nodiscard]] static Conserved<Dim, Lanes> change_of(const Column& dq) {
        Conserved<Dim, Lanes> change;
        change.rho = dq[0];
        for (std::size_t d = 0; d < D; ++d) change.m[d] = dq[d + 1];
        change.E = dq[Dim + 1];
        return change;
    }
    /// |A . S| dq, with |lambda| of no wave below a hundredth of the largest.
    [[nodiscard]] Column absolute(const Cell& cell, const Vec& s, const Column& dq) const {
        const Lanes area = sqrt(dot(s, s)), over = 1.0 / max(area, broadcast(1e-300));
        const Lanes through = dot(cell.u, s) * over, a = cell.a, least = 0.01 * (abs(through) + a);
        const Lanes still = max(abs(through), least), up = max(abs(through + a), least),
                    down = max(abs(through - a), least);
        const Lanes mean = 0.5 * (up + down) - still, skew = 0.5 * (up - down);
        const Conserved<Dim, Lanes> change = change_of(dq);
        Lanes faster = -through * change.rho;  // rho times the change of u . n
        for (std::size_t d = 0; d < D; ++d) faster += change.m[d] * s[d] * over;
        const Lanes dp =
            (gamma_ - 1) * (change.E - dot(cell.u, change.m) + 0.5 * dot(cell.u, cell.u) * change.rho);
        const Lanes one = (dp * mean / a + faster * skew) / a, two = dp * skew / a + faster * mean;
        Column sum;
        sum[0] = area * (still * dq[0] + one);
        for (std::size_t d = 0; d < D; ++d)
            sum[d + 1] = area * (still * dq[d + 1] + one * cell.u[d] + two * s[d] * over);
        sum[Dim + 1] = area * (still * dq[Dim + 1] + one * cell.H + two * through);
        return sum;
    }
    /// (A . S + way |A . S|) dq / 2, and the viscous radius.
    [[nodiscard]] Column coupling(const Cell& cell, const Vec& s, const Column& dq, int way) const {
        const Conserved<Dim, Lanes> f = flux_change<Dim>(cell.u, cell.H, change_of(dq), s, gamma_);
        const Column upwind = absolute(cell, s, dq);
        const Lanes viscous = 2.0 * cell.viscosity * dot(s, s);
        Column sum;
        const double half = 0.5 * way;
        sum[0] = 0.5 * f.rho + half * (upwind[0] + viscous * dq[0]);
        for (std::size_t d = 0; d < D; ++d)
            sum[d + 1] = 0.5 * f.m[d] + half * (upwind[d + 1] + viscous * dq[d + 1]);
        sum[Dim + 1] = 0.5 * f.E + half * (upwind[Dim + 1] + viscous * dq[Dim + 1]);
        return sum;
    }
    /// Gauss' elimination without pivots: the diagonal is at least the sum of what couples.
    static void solve(Lanes (&M)[N][N], Lanes (&X)[N][N + 1]) {
        for (std::size_t p = 0; p < N; ++p) {
            const Lanes over = 1.0 / M[p][p];
            for (std::size_t c = p + 1; c < N; ++c) M[p][c] *= over;
            for (std::size_t c = 0; c <= N; ++c) X[p][c] *= over;
            for (std::size_t r = p + 1; r < N; ++r) {
                const Lanes by = M[r][p];
                for (std::size_t c = p + 1; c < N; ++c) M[r][c] -= by * M[p][c];
                for (std::size_t c = 0; c <= N; ++c) X[r][c] -= by * X[p][c];
            }
        }
        for (std::size_t p = N; p-- > 1;)
            for (std::size_t r = 0; r < p; ++r)
                for (std::size_t c = 0; c <= N; ++c) X[r][c] -= M[r][p] * X[p][c];
    }

    int axis_;
    const Patch<Dim>& patch_;
    const Scheme& scheme_;
    const Diagonals& diagonals_;
    double gamma_;
};

}  // namespace

template <int Dim>
void eliminate_lines(const Box& cells, int axis, const Patch<Dim>& patch, const Scheme& scheme,
                     const Diagonals& diagonals, const std::array<bool, 2>& open, const Upwind& behind,
                     const FieldView<const double>& factors_behind, const FieldView<double>& factors,
                     const Unknowns& unknowns) {
    Lines<Dim>(axis, patch, scheme, diagonals)
        .eliminate(cells, open, behind, factors_behind, factors, unknowns);
}

template <int Dim>
void substitute_lines(const Box& cells, int axis, const Scheme& scheme, bool open, const Upwind& ahead,
                      const FieldView<const double>& factors, const Unknowns& unknowns) {
    const Patch<Dim> none = [] {
        if constexpr (Dim == 2)
            return Patch<2>{no_field(), no_field(), {no_field(), no_field()},
                            no_field(), no_field(), no_field()};
        else
            return Patch<3>{no_field(), no_field(), {no_field(), no_field(), no_field()},
                            no_field(), no_field(), no_field()};
    }();
    const Diagonals no_diagonals{no_field(), no_field(), no_field()};
    Lines<Dim>(axis, none, scheme, no_diagonals).substitute(cells, open, ahead, factors, unknowns);
}

#define STRATA_FLOW_LINES(Dim)                                                                           \
    template void eliminate_lines<Dim>(                                                                  \
        const Box&, int, const Patch<Dim>&, const Scheme&, const Diagonals&, const std::array<bool, 2>&, \
        const Upwind&, const FieldView<const double>&, const FieldView<double>&, const Unknowns&);       \
    template void substitute_lines<Dim>(const Box&, int, const Scheme&, bool, const Upwind&,             \
                                        const FieldView<const double>&, const Unknowns&);
STRATA_FLOW_LINES(2)
STRATA_FLOW_LINES(3)
#undef STRATA_FLOW_LINES

}  // namespace strata::flow
