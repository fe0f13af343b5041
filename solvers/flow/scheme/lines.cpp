// Eight lines at once: side by side along x, or, where lines go along x, in eight rows. A line's cells follow
// one another, so what a cell and the face below it are is found once and goes on to the next cell.
#include "solvers/flow/scheme/lines.hpp"

#include <algorithm>

#include "solvers/flow/scheme/line_algebra.hpp"
#include "solvers/flow/scheme/line_values.hpp"

namespace strata::flow {
namespace {

/// The first component of factors that is of the model.
template <int Dim>
constexpr int kNu = kLineFactors<Dim> - 1;

/// The number of an entry of a matrix.
template <std::size_t N>
constexpr int index(std::size_t r, std::size_t c) {
    return static_cast<int>(r * N + c);
}

Int3 moved(Int3 at, std::size_t axis, int by) {
    at[axis] += by;
    return at;
}

/// What elimination has from others.
struct Given {
    const StepSize& step;
    const Diagonals& diagonals;
    const Upwind &right, &above;  // above: g, with the layer above
    const FieldView<const double>& factors_above;
    const LineMatrices& matrices;
};

/// Down the lines.
template <int Dim, bool along_x>
class Elimination : LineAlgebra<Dim> {
    using Algebra = LineAlgebra<Dim>;
    using Algebra::D, Algebra::N, Algebra::kCellValues;
    using Algebra::lines_, Algebra::scheme_, Algebra::gamma_, Algebra::moves_;
    using typename Algebra::Cell, typename Algebra::Column, typename Algebra::NuFactor,
        typename Algebra::Side, typename Algebra::Wave;

  public:
    Elimination(const LineSet& lines, const Patch<Dim>& patch, const Scheme& scheme, const Given& given)
        : Algebra(lines, scheme, patch.moves()),
          axis_(static_cast<std::size_t>(lines.axis)),
          patch_(patch),
          given_(given),
          model_(scheme.model_equations()),
          has_matrix_(given.matrices.given.origin() != nullptr),
          keeps_matrix_(given.matrices.made.origin() != nullptr) {}

    /// To g and factors.
    void eliminate(const Unknowns& g, const FieldView<double>& factors) {
        add_inputs();
        add_outputs(g, factors);
        over_lines<along_x>(
            lines_.cells, axis_, -1, [&](const Int3& at, int n) { start(at, n); },
            [&](const LineBlock& block) { in_.begin(block), out_.begin(block); },
            [&](const LineBlock& block, int b, bool first, bool last) { cell(block, b, first, last); },
            [&](const LineBlock& done) { out_.end(done); });
    }

  private:
    // Numbers of what it reads: the cell, what is given, the lower face.
    static constexpr int kGiven = kCellValues, kFace = kGiven + Dim + 2;
    static constexpr int kSlower = (Dim + 2) * (Dim + 2);  // of LineMatrices
    static constexpr int kOthers = (2 * Dim - 2) * (Dim + 1) + 2;
    static constexpr int kInputs = kFace + Dim + 1 + (kOthers > kSlower + 1 ? kOthers : kSlower + 1) + 2 * 3;
    static constexpr int kOutputs = 2 * (kSlower + 1) + Dim + 2 + 4;
    struct NuInputs {
        int diffusion, diagonal, given;
    };

    void add_inputs() {
        const LineMatrices& matrices = given_.matrices;
        for (int c = 0; c < Dim + 2; ++c) in_.add(patch_.q, c);
        const FieldView<const double>& viscosity = scheme_.viscous() ? given_.diagonals.viscosity : patch_.q;
        in_.add(viscosity, 0);
        in_.add(viscosity, scheme_.viscous() ? 2 : 0);
        for (std::size_t r = 0; r < N; ++r) in_.add(given_.right.mean, static_cast<int>(r));
        for (std::size_t d = 0; d < D; ++d) in_.add(patch_.faces[axis_], static_cast<int>(d));
        if (moves_) speeds_ = in_.add(patch_.speeds[axis_], 0);
        if (has_matrix_) {
            matrix_ = in_.add(matrices.given, 0);
            for (int c = 1; c <= kSlower; ++c) in_.add(matrices.given, c);
        } else {
            others_ = add_other_faces();
            if (given_.step.physical != 0) volume_ = in_.add(patch_.volumes, 0);
            if (lines_.holds) held_ = in_.add(given_.diagonals.mean, 0);
        }
        for (int m = 0; m < model_; ++m)
            nu_in_[static_cast<std::size_t>(m)] = {in_.add(given_.diagonals.viscosity, diffusion_of(m)),
                                                   in_.add(given_.diagonals.nu_tilde, m),
                                                   in_.add(given_.right.nu_tilde, m)};
    }
    /// The faces across the other axes, lower and upper, each with what it sweeps where the grid moves.
    int add_other_faces() {
        int first = -1;
        for (std::size_t a = 0; a < D; ++a)
            for (int by = 0; a != axis_ && by < 2; ++by) {
                const Int3 offset = moved({}, a, by);
                for (std::size_t d = 0; d < D; ++d) {
                    const int added = in_.add(patch_.faces[a], static_cast<int>(d), offset);
                    if (first < 0) first = added;
                }
                if (moves_) in_.add(patch_.speeds[a], 0, offset);
            }
        return first;
    }
    void add_outputs(const Unknowns& g, const FieldView<double>& factors) {
        for (std::size_t f = 0; f < N * N; ++f) out_.add(factors, static_cast<int>(f));
        for (int m = 0; m < model_; ++m) out_.add(factors, kNu<Dim> + m);
        for (std::size_t r = 0; r < N; ++r) out_.add(g.mean, static_cast<int>(r));
        for (int m = 0; m < model_; ++m) out_.add(g.nu_tilde, m);
        if (keeps_matrix_) kept_ = out_.add(given_.matrices.made, 0);
        for (int c = 1; c <= kSlower && keeps_matrix_; ++c) out_.add(given_.matrices.made, c);
    }

    [[nodiscard]] static Lanes get(const FieldView<const double>& f, const Int3& at, int c, int n) {
        return in_lines<along_x>(f, at, c, n);
    }
    [[nodiscard]] Cell cell_beside(const Int3& at, int n) const {
        return this->cell_of([&](int v) { return in_.beside(v, at, n); });
    }
    [[nodiscard]] static bool ends(LineEnd end) { return end == LineEnd::ends || end == LineEnd::seam; }

    /// The first cell of n lines: what lies above, and what has been found there where lines go on.
    void start(const Int3& at, int n) {
        const Int3 beyond = moved(at, axis_, 1);
        for (std::size_t d = 0; d < D; ++d) upper_.s[d] = in_.beside(kFace + static_cast<int>(d), beyond, n);
        upper_.swept = moves_ ? in_.beside(speeds_, beyond, n) : Lanes{};
        own_ = cell_beside(at, n);
        if (!ends(lines_.above)) up_ = cell_beside(beyond, n);
        if (lines_.above != LineEnd::goes_on) return;
        for (std::size_t r = 0; r < N; ++r) {
            for (std::size_t c = 0; c < N; ++c)
                X_[r][c] = get(given_.factors_above, beyond, index<N>(r, c), n);
            X_[r][N] = get(given_.above.mean, beyond, static_cast<int>(r), n);
        }
        for (int m = 0; m < model_; ++m)
            nu_[static_cast<std::size_t>(m)] = {get(given_.factors_above, beyond, kNu<Dim> + m, n),
                                                get(given_.above.nu_tilde, beyond, m, n)};
    }

    /// Cell b of a block: its equation without the cell above is M dq + L dq_below = right, so dq = g - E
    /// dq_below with M X = (-L | g).
    void cell(const LineBlock& block, int b, bool first, bool last) {
        const int n = block.lines;
        const LineEnd top = first ? lines_.above : LineEnd::goes_on,
                      end = last ? lines_.below : LineEnd::goes_on;
        Cell next{};
        if (b > 0)
            next = this->cell_of([&](int v) { return in_(v, b - 1, n); });
        else if (!ends(end))
            next = cell_beside(moved(block.at, axis_, -1), n);
        Side lower;
        for (std::size_t d = 0; d < D; ++d) lower.s[d] = in_(kFace + static_cast<int>(d), b, n);
        lower.swept = moves_ ? in_(speeds_, b, n) : Lanes{};

        const Lanes slower = set_matrix(lower, b, n);
        Column right = right_side(b, n);
        if (scheme_.eddies() && top == LineEnd::seam) this->damp(own_, upper_, M_);
        if (scheme_.eddies() && end == LineEnd::seam) this->damp(own_, lower, M_);
        add_above(top, right);
        add_below(end, next, lower);
        for (std::size_t r = 0; r < N; ++r) X_[r][N] = right[r];
        this->template solve<N + 1>(M_, X_);
        put(b, n);
        for (int m = 0; m < model_; ++m) eliminate_nu(m, top, end, lower, slower, b, n);
        up_ = own_, own_ = next, upper_ = lower;
    }

    /// D: time, waves through all faces, friction along the line and beside it. Returns V/dt beyond that of
    /// diagonals().
    Lanes set_matrix(const Side& lower, int b, int n) {
        Lanes slower;
        if (has_matrix_) {
            for (std::size_t r = 0; r < N; ++r)
                for (std::size_t c = 0; c < N; ++c) M_[r][c] = in_(matrix_ + index<N>(r, c), b, n);
            slower = in_(matrix_ + kSlower, b, n);
        } else {
            std::array<Side, 2 * D> sides;
            sides[0] = lower, sides[1] = upper_;
            int value = others_;
            for (std::size_t side = 2; side < 2 * D; ++side) {
                for (std::size_t d = 0; d < D; ++d) sides[side].s[d] = in_(value++, b, n);
                sides[side].swept = moves_ ? in_(value++, b, n) : Lanes{};
            }
            const double physical = given_.step.physical;
            slower = this->find_matrix(M_, own_, sides, given_.step,
                                       physical != 0 ? Lanes(physical * in_(volume_, b, n)) : Lanes{},
                                       lines_.holds ? in_(held_, b, n) : broadcast(1));
        }
        if (keeps_matrix_) {
            for (std::size_t r = 0; r < N; ++r)
                for (std::size_t c = 0; c < N; ++c) out_.put(kept_ + index<N>(r, c), b, M_[r][c], n);
            out_.put(kept_ + kSlower, b, slower, n);
        }
        return slower;
    }

    /// -R of the first factor, D dq of others.
    [[nodiscard]] Column right_side(int b, int n) const {
        Column right;
        for (std::size_t r = 0; r < N; ++r) right[r] = in_(kGiven + static_cast<int>(r), b, n);
        if (!lines_.is_first) return this->product(M_, right);
        for (Lanes& x : right) x = -x;
        return right;
    }

    /// Above: dq_above = g - E dq, with what X still has of the cell above; or an image, or nothing.
    void add_above(LineEnd top, Column& right) {
        if (top == LineEnd::goes_on) {
            const Wave waves = this->wave(up_, upper_, -1);
            for (std::size_t c = 0; c <= N; ++c) {
                Column column;
                for (std::size_t r = 0; r < N; ++r) column[r] = c < N ? -X_[r][c] : X_[r][c];
                const Column part = this->coupling(waves, up_, column, -1);
                for (std::size_t r = 0; r < N; ++r)
                    if (c < N)
                        M_[r][c] += part[r];
                    else
                        right[r] -= part[r];
            }
        } else if (!ends(top)) {
            const Wave waves = this->wave(up_, upper_, -1);
            for (std::size_t c = 0; c < N; ++c) {
                const Column part = this->coupling(
                    waves, up_, this->imaged(top, waves.normal(), own_, up_, this->unit(c)), -1);
                for (std::size_t r = 0; r < N; ++r) M_[r][c] += part[r];
            }
        }
    }

    /// Below: the next cell of the line, whose part X gets; an image, or nothing.
    void add_below(LineEnd end, const Cell& next, const Side& lower) {
        for (auto& row : X_) std::fill(row, row + N, Lanes{});
        if (end == LineEnd::wall || end == LineEnd::mirrored) {
            const Wave waves = this->wave(next, lower, 1);
            for (std::size_t c = 0; c < N; ++c) {
                const Column part = this->coupling(
                    waves, next, this->imaged(end, waves.normal(), own_, next, this->unit(c)), 1);
                for (std::size_t r = 0; r < N; ++r) M_[r][c] -= part[r];
            }
        } else if (!ends(end)) {
            const Wave waves = this->wave(next, lower, 1);
            Lanes L[N][N] = {};
            WaveSum<Dim> one;
            one.add(waves);
            one.add_to(L, next, gamma_ - 1);
            if (scheme_.viscous()) add_conduction<Dim>(L, next, waves.square());
            for (std::size_t r = 0; r < N; ++r)
                for (std::size_t c = 0; c < N; ++c) X_[r][c] = -L[r][c];
        }
    }

    void put(int b, int n) {
        const int mean = static_cast<int>(N * N) + model_;
        for (std::size_t r = 0; r < N; ++r) {
            for (std::size_t c = 0; c < N; ++c) out_.put(index<N>(r, c), b, X_[r][c], n);
            out_.put(mean + static_cast<int>(r), b, X_[r][N], n);
        }
    }

    /// Equation m of the model.
    void eliminate_nu(int m, LineEnd top, LineEnd end, const Side& lower, const Lanes& slower, int b, int n) {
        const NuInputs& values = nu_in_[static_cast<std::size_t>(m)];
        NuFactor& factor = nu_[static_cast<std::size_t>(m)];
        factor = Algebra::eliminate_nu(factor, top, end, own_, {lower, upper_}, slower,
                                       in_(values.diffusion, b, n), in_(values.diagonal, b, n),
                                       in_(values.given, b, n));
        out_.put(static_cast<int>(N * N) + m, b, factor.e, n);
        out_.put(static_cast<int>(N * N + N) + model_ + m, b, factor.g, n);
    }

    std::size_t axis_;
    const Patch<Dim>& patch_;
    const Given& given_;
    const int model_;
    const bool has_matrix_, keeps_matrix_;
    LineInputs<along_x, kInputs> in_;
    LineOutputs<along_x, kOutputs> out_;
    int speeds_ = 0, others_ = 0, volume_ = 0, held_ = 0, matrix_ = 0, kept_ = 0;  // numbers of values
    std::array<NuInputs, 2> nu_in_{};

    // This cell, the cell above and the face between: what the cell before has left.
    Cell own_{}, up_{};
    Side upper_{};
    Lanes M_[N][N], X_[N][N + 1];
    std::array<NuFactor, 2> nu_{};
};

template <int Dim, bool along_x>
[[gnu::flatten]] void eliminate(const LineSet& lines, const Patch<Dim>& patch, const Scheme& scheme,
                                const Given& given, const Unknowns& g, const FieldView<double>& factors) {
    Elimination<Dim, along_x>(lines, patch, scheme, given).eliminate(g, factors);
}

/// Up the lines.
template <int Dim, bool along_x>
class Substitution : LineAlgebra<Dim> {
    using Algebra = LineAlgebra<Dim>;
    using Algebra::N, Algebra::lines_, Algebra::scheme_;
    using typename Algebra::Column;

  public:
    Substitution(const LineSet& lines, const Scheme& scheme) : Algebra(lines, scheme, false) {}

    [[gnu::flatten]] void substitute(const Upwind& g, const FieldView<const double>& factors,
                                     const Upwind& below, const Unknowns& change) const {
        const int model = scheme_.model_equations();
        const auto axis = static_cast<std::size_t>(lines_.axis);
        LineInputs<along_x, kInputs> in;
        LineOutputs<along_x, static_cast<int>(N) + 2> out;
        for (std::size_t f = 0; f < N * N; ++f) in.add(factors, static_cast<int>(f));
        for (int m = 0; m < model; ++m) in.add(factors, kNu<Dim> + m);
        for (std::size_t r = 0; r < N; ++r) in.add(g.mean, static_cast<int>(r));
        for (int m = 0; m < model; ++m) in.add(g.nu_tilde, m);
        for (std::size_t r = 0; r < N; ++r) out.add(change.mean, static_cast<int>(r));
        for (int m = 0; m < model; ++m) out.add(change.nu_tilde, m);
        const int nu_factors = static_cast<int>(N * N), mean_in = nu_factors + model,
                  nu_in = mean_in + static_cast<int>(N);
        Column own{};  // of the cell below, then of this one
        std::array<Lanes, 2> nu{};
        const auto start = [&](const Int3& at, int n) {
            if (lines_.below != LineEnd::goes_on) return;
            const Int3 down = moved(at, axis, -1);
            for (std::size_t r = 0; r < N; ++r) own[r] = get(below.mean, down, static_cast<int>(r), n);
            for (int m = 0; m < model; ++m) nu[static_cast<std::size_t>(m)] = get(below.nu_tilde, down, m, n);
        };
        const auto cell = [&](const LineBlock& block, int b, bool first, bool) {
            const int n = block.lines;
            const LineEnd end = first ? lines_.below : LineEnd::goes_on;
            const Column next = own;
            const std::array<Lanes, 2> nu_next = nu;
            for (std::size_t r = 0; r < N; ++r) own[r] = in(mean_in + static_cast<int>(r), b, n);
            for (int m = 0; m < model; ++m) nu[static_cast<std::size_t>(m)] = in(nu_in + m, b, n);
            if (end == LineEnd::joined) {
                meet(block.at, moved(block.at, axis, -1), n, g, factors, own, nu);
            } else if (end == LineEnd::goes_on) {
                for (std::size_t c = 0; c < N; ++c)
                    for (std::size_t r = 0; r < N; ++r) own[r] -= in(index<N>(r, c), b, n) * next[c];
                for (int m = 0; m < model; ++m)
                    nu[static_cast<std::size_t>(m)] +=
                        in(nu_factors + m, b, n) * nu_next[static_cast<std::size_t>(m)];
            }
            for (std::size_t r = 0; r < N; ++r) out.put(static_cast<int>(r), b, own[r], n);
            for (int m = 0; m < model; ++m)
                out.put(static_cast<int>(N) + m, b, nu[static_cast<std::size_t>(m)], n);
        };
        over_lines<along_x>(
            lines_.cells, axis, 1, start, [&](const LineBlock& block) { in.begin(block), out.begin(block); },
            cell, [&](const LineBlock& done) { out.end(done); });
    }

  private:
    static constexpr int kInputs = kLineFactors<Dim> + 1 + Dim + 2 + 2;

    [[nodiscard]] static Lanes get(const FieldView<const double>& f, const Int3& at, int c, int n) {
        return in_lines<along_x>(f, at, c, n);
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
        this->template solve<1>(M, X);
        for (std::size_t r = 0; r < N; ++r) own[r] = X[r][0];
        for (int m = 0; m < scheme_.model_equations(); ++m) {
            Lanes& change = nu[static_cast<std::size_t>(m)];
            const Lanes e = get(factors, at, kNu<Dim> + m, n);
            change = (change + e * get(g.nu_tilde, there, m, n)) /
                     (1.0 - e * get(factors, there, kNu<Dim> + m, n));
        }
    }
};

}  // namespace

template <int Dim>
void eliminate_lines(const LineSet& lines, const Patch<Dim>& patch, const Scheme& scheme,
                     const StepSize& step, const Diagonals& diagonals, const Upwind& given,
                     const Upwind& above, const FieldView<const double>& factors_above, const Unknowns& g,
                     const FieldView<double>& factors, const LineMatrices& matrices) {
    const Given all{step, diagonals, given, above, factors_above, matrices};
    if (lines.axis == 0)
        eliminate<Dim, true>(lines, patch, scheme, all, g, factors);
    else
        eliminate<Dim, false>(lines, patch, scheme, all, g, factors);
}

template <int Dim>
void substitute_lines(const LineSet& lines, const Scheme& scheme, const Upwind& g,
                      const FieldView<const double>& factors, const Upwind& below, const Unknowns& change) {
    if (lines.axis == 0)
        Substitution<Dim, true>(lines, scheme).substitute(g, factors, below, change);
    else
        Substitution<Dim, false>(lines, scheme).substitute(g, factors, below, change);
}

#define STRATA_FLOW_LINES(Dim)                                                                            \
    template void eliminate_lines<Dim>(const LineSet&, const Patch<Dim>&, const Scheme&, const StepSize&, \
                                       const Diagonals&, const Upwind&, const Upwind&,                    \
                                       const FieldView<const double>&, const Unknowns&,                   \
                                       const FieldView<double>&, const LineMatrices&);                    \
    template void substitute_lines<Dim>(const LineSet&, const Scheme&, const Upwind&,                     \
                                        const FieldView<const double>&, const Upwind&, const Unknowns&);
STRATA_FLOW_LINES(2)
STRATA_FLOW_LINES(3)
#undef STRATA_FLOW_LINES

}  // namespace strata::flow
