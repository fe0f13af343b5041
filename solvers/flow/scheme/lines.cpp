// Eight lines at once: side by side along x, or, where lines go along x, in eight rows. A line's cells follow
// one another, so what a cell and the face below it are is found once and goes on to the next cell.
#include "solvers/flow/scheme/lines.hpp"

#include <algorithm>

#include "solvers/flow/scheme/line_values.hpp"
#include "solvers/flow/scheme/waves.hpp"

namespace strata::flow {
namespace {

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
          patch_(patch),
          scheme_(scheme),
          diagonals_(diagonals),
          gamma_(scheme.gas.gamma) {}

    [[gnu::flatten]] void eliminate(const StepSize& step, const Upwind& given, const Upwind& above,
                                    const FieldView<const double>& factors_above, const Unknowns& g,
                                    const FieldView<double>& factors, const LineMatrices& matrices) const {
        const int model = scheme_.model_equations();
        const bool has_matrix = matrices.given.origin() != nullptr,
                   keeps_matrix = matrices.made.origin() != nullptr;
        LineInputs<along_x, kInputs> in;
        LineOutputs<along_x, kOutputs> out;
        add_cell(in);
        for (std::size_t r = 0; r < N; ++r) in.add(given.mean, static_cast<int>(r));
        for (std::size_t d = 0; d < D; ++d) in.add(patch_.faces[axis_], static_cast<int>(d));
        const int speeds = patch_.moves() ? in.add(patch_.speeds[axis_], 0) : 0;
        int others = 0, volume = 0, held = 0, matrix = 0;
        if (has_matrix) {
            matrix = in.add(matrices.given, 0);
            for (int c = 1; c <= kSlower; ++c) in.add(matrices.given, c);
        } else {
            others = add_other_faces(in);
            if (step.physical != 0) volume = in.add(patch_.volumes, 0);
            if (lines_.holds) held = in.add(diagonals_.mean, 0);
        }
        std::array<NuInputs, 2> nu_in{};
        for (int m = 0; m < model; ++m)
            nu_in[static_cast<std::size_t>(m)] = {in.add(diagonals_.viscosity, diffusion_of(m)),
                                                  in.add(diagonals_.nu_tilde, m), in.add(given.nu_tilde, m)};
        for (std::size_t f = 0; f < N * N; ++f) out.add(factors, static_cast<int>(f));
        for (int m = 0; m < model; ++m) out.add(factors, kNu + m);
        for (std::size_t r = 0; r < N; ++r) out.add(g.mean, static_cast<int>(r));
        for (int m = 0; m < model; ++m) out.add(g.nu_tilde, m);
        const int kept = keeps_matrix ? out.add(matrices.made, 0) : 0;
        for (int c = 1; c <= kSlower && keeps_matrix; ++c) out.add(matrices.made, c);
        const int nu_factors = static_cast<int>(N * N), mean_out = nu_factors + model,
                  nu_out = mean_out + static_cast<int>(N);

        // Of the cell above, and the face between: what the cell before has left.
        Cell own{}, up{};
        Vec upper{};
        Lanes upper_swept{}, M[N][N], X[N][N + 1];  // M X = (-L | g)
        std::array<NuFactor, 2> nu{};
        const auto start = [&](const Int3& at, int n) {
            const Int3 beyond = moved(at, axis_, 1);
            for (std::size_t d = 0; d < D; ++d) upper[d] = in.beside(kFace + static_cast<int>(d), beyond, n);
            upper_swept = patch_.moves() ? in.beside(speeds, beyond, n) : Lanes{};
            own = cell_beside(in, at, n);
            if (lines_.above != LineEnd::ends && lines_.above != LineEnd::seam)
                up = cell_beside(in, beyond, n);
            if (lines_.above != LineEnd::goes_on) return;
            for (std::size_t r = 0; r < N; ++r) {
                for (std::size_t c = 0; c < N; ++c) X[r][c] = get(factors_above, beyond, index(r, c), n);
                X[r][N] = get(above.mean, beyond, static_cast<int>(r), n);
            }
            for (int m = 0; m < model; ++m)
                nu[static_cast<std::size_t>(m)] = {get(factors_above, beyond, kNu + m, n),
                                                   get(above.nu_tilde, beyond, m, n)};
        };
        const auto begin = [&](const LineBlock& block) { in.begin(block), out.begin(block); };
        const auto cell = [&](const LineBlock& block, int b, bool first, bool last) {
            const int n = block.lines;
            const LineEnd end = last ? lines_.below : LineEnd::goes_on;
            const bool ends_below = end == LineEnd::ends || end == LineEnd::seam;
            Cell next{};
            if (b > 0)
                next = cell_of([&](int v) { return in(v, b - 1, n); });
            else if (!ends_below)
                next = cell_beside(in, moved(block.at, axis_, -1), n);
            Vec lower;
            for (std::size_t d = 0; d < D; ++d) lower[d] = in(kFace + static_cast<int>(d), b, n);
            const Lanes lower_swept = patch_.moves() ? in(speeds, b, n) : Lanes{};

            // The cell itself: time, waves through all faces, friction along the line and beside it.
            Lanes slower;  // V/dt beyond that of diagonals()
            if (has_matrix) {
                for (std::size_t r = 0; r < N; ++r)
                    for (std::size_t c = 0; c < N; ++c) M[r][c] = in(matrix + index(r, c), b, n);
                slower = in(matrix + kSlower, b, n);
            } else {
                std::array<Vec, 2 * D> sides;
                std::array<Lanes, 2 * D> swept{};
                sides[0] = lower, sides[1] = upper, swept[0] = lower_swept, swept[1] = upper_swept;
                int value = others;
                for (std::size_t side = 2; side < 2 * D; ++side) {
                    for (std::size_t d = 0; d < D; ++d) sides[side][d] = in(value++, b, n);
                    if (patch_.moves()) swept[side] = in(value++, b, n);
                }
                const Lanes physical = step.physical != 0 ? Lanes(step.physical * in(volume, b, n)) : Lanes{};
                slower = find_matrix(M, own, sides, swept, step, physical,
                                     lines_.holds ? in(held, b, n) : broadcast(1));
            }
            if (keeps_matrix) {
                for (std::size_t r = 0; r < N; ++r)
                    for (std::size_t c = 0; c < N; ++c) out.put(kept + index(r, c), b, M[r][c], n);
                out.put(kept + kSlower, b, slower, n);
            }

            Column right;
            for (std::size_t r = 0; r < N; ++r) right[r] = in(kGiven + static_cast<int>(r), b, n);
            if (lines_.is_first)
                for (Lanes& x : right) x = -x;
            else
                right = product(M, right);

            // Above: dq_above = g - E dq, with what X still has of the cell above.
            if (scheme_.eddies() && first && lines_.above == LineEnd::seam) damp(own, upper, upper_swept, M);
            if (scheme_.eddies() && end == LineEnd::seam) damp(own, lower, lower_swept, M);
            if (!first || lines_.above == LineEnd::goes_on) {
                const Wave waves(up, upper, -1, upper_swept);
                for (std::size_t c = 0; c <= N; ++c) {
                    Column column;
                    for (std::size_t r = 0; r < N; ++r) column[r] = c < N ? -X[r][c] : X[r][c];
                    const Column part = coupling(waves, up, column, -1);
                    for (std::size_t r = 0; r < N; ++r)
                        if (c < N)
                            M[r][c] += part[r];
                        else
                            right[r] -= part[r];
                }
            } else if (lines_.above != LineEnd::ends && lines_.above != LineEnd::seam) {
                const Wave waves(up, upper, -1, upper_swept);
                for (std::size_t c = 0; c < N; ++c) {
                    const Column part =
                        coupling(waves, up, imaged(lines_.above, waves.normal(), own, up, unit(c)), -1);
                    for (std::size_t r = 0; r < N; ++r) M[r][c] += part[r];
                }
            }
            // Below: the next cell of the line, an image, or nothing.
            for (auto& row : X) std::fill(row, row + N, Lanes{});
            if (end == LineEnd::wall || end == LineEnd::mirrored) {
                const Wave waves(next, lower, 1, lower_swept);
                for (std::size_t c = 0; c < N; ++c) {
                    const Column part =
                        coupling(waves, next, imaged(end, waves.normal(), own, next, unit(c)), 1);
                    for (std::size_t r = 0; r < N; ++r) M[r][c] -= part[r];
                }
            } else if (!ends_below) {
                const Wave waves(next, lower, 1, lower_swept);
                Lanes L[N][N] = {};
                WaveSum<Dim> one;
                one.add(waves);
                one.add_to(L, next, gamma_ - 1);
                if (scheme_.viscous()) add_conduction<Dim>(L, next, waves.square());
                for (std::size_t r = 0; r < N; ++r)
                    for (std::size_t c = 0; c < N; ++c) X[r][c] = -L[r][c];
            }
            for (std::size_t r = 0; r < N; ++r) X[r][N] = right[r];
            solve<N + 1>(M, X);
            for (std::size_t r = 0; r < N; ++r) {
                for (std::size_t c = 0; c < N; ++c) out.put(index(r, c), b, X[r][c], n);
                out.put(mean_out + static_cast<int>(r), b, X[r][N], n);
            }
            for (int m = 0; m < model; ++m) {
                const NuInputs& values = nu_in[static_cast<std::size_t>(m)];
                NuFactor& factor = nu[static_cast<std::size_t>(m)];
                factor = eliminate_nu(factor, first, end, own, {lower, upper}, {lower_swept, upper_swept},
                                      slower, in(values.diffusion, b, n), in(values.diagonal, b, n),
                                      in(values.given, b, n));
                out.put(nu_factors + m, b, factor.e, n);
                out.put(nu_out + m, b, factor.g, n);
            }
            up = own, own = next, upper = lower, upper_swept = lower_swept;
        };
        over_lines<along_x>(lines_.cells, axis_, -1, start, begin, cell,
                            [&](const LineBlock& done) { out.end(done); });
    }

    [[gnu::flatten]] void substitute(const Upwind& g, const FieldView<const double>& factors,
                                     const Upwind& below, const Unknowns& change) const {
        const int model = scheme_.model_equations();
        LineInputs<along_x, kOutputs> in;
        LineOutputs<along_x, static_cast<int>(N) + 2> out;
        for (std::size_t f = 0; f < N * N; ++f) in.add(factors, static_cast<int>(f));
        for (int m = 0; m < model; ++m) in.add(factors, kNu + m);
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
            const Int3 down = moved(at, axis_, -1);
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
                meet(block.at, moved(block.at, axis_, -1), n, g, factors, own, nu);
            } else if (end == LineEnd::goes_on) {
                for (std::size_t c = 0; c < N; ++c)
                    for (std::size_t r = 0; r < N; ++r) own[r] -= in(index(r, c), b, n) * next[c];
                for (int m = 0; m < model; ++m)
                    nu[static_cast<std::size_t>(m)] +=
                        in(nu_factors + m, b, n) * nu_next[static_cast<std::size_t>(m)];
            }
            for (std::size_t r = 0; r < N; ++r) out.put(static_cast<int>(r), b, own[r], n);
            for (int m = 0; m < model; ++m)
                out.put(static_cast<int>(N) + m, b, nu[static_cast<std::size_t>(m)], n);
        };
        over_lines<along_x>(
            lines_.cells, axis_, 1, start, [&](const LineBlock& block) { in.begin(block), out.begin(block); },
            cell, [&](const LineBlock& done) { out.end(done); });
    }

  private:
    // Numbers of what elimination reads: the state, where the flow is viscous heat and momentum (else they
    // are not read), what is given, the lower face.
    static constexpr int kHeat = Dim + 2, kMomentum = Dim + 3, kGiven = Dim + 4, kFace = kGiven + Dim + 2;
    static constexpr int kSlower = (Dim + 2) * (Dim + 2);  // of LineMatrices
    static constexpr int kOthers = (2 * Dim - 2) * (Dim + 1) + 2;
    static constexpr int kInputs = kFace + Dim + 1 + (kOthers > kSlower + 1 ? kOthers : kSlower + 1) + 2 * 3;
    static constexpr int kOutputs = 2 * (kSlower + 1) + Dim + 2 + 4;
    struct NuInputs {
        int diffusion, diagonal, given;
    };
    struct NuFactor {
        Lanes e{}, g{};
    };
    static constexpr int index(std::size_t r, std::size_t c) { return static_cast<int>(r * N + c); }
    [[nodiscard]] static Int3 moved(Int3 at, std::size_t axis, int by) {
        at[axis] += by;
        return at;
    }
    [[nodiscard]] static Lanes get(const FieldView<const double>& f, const Int3& at, int c, int n) {
        return in_lines<along_x>(f, at, c, n);
    }
    template <class Inputs>
    void add_cell(Inputs& in) const {
        for (int c = 0; c < Dim + 2; ++c) in.add(patch_.q, c);
        const FieldView<const double>& viscosity = scheme_.viscous() ? diagonals_.viscosity : patch_.q;
        in.add(viscosity, 0);
        in.add(viscosity, scheme_.viscous() ? 2 : 0);
    }
    /// The faces across the other axes, lower and upper, each with what it sweeps where the grid moves.
    template <class Inputs>
    int add_other_faces(Inputs& in) const {
        int first = -1;
        for (std::size_t a = 0; a < D; ++a)
            for (int by = 0; a != axis_ && by < 2; ++by) {
                const Int3 offset = moved({}, a, by);
                for (std::size_t d = 0; d < D; ++d) {
                    const int added = in.add(patch_.faces[a], static_cast<int>(d), offset);
                    if (first < 0) first = added;
                }
                if (patch_.moves()) in.add(patch_.speeds[a], 0, offset);
            }
        return first;
    }
    /// `value(n)`: number n of add_cell().
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
    template <class Inputs>
    [[nodiscard]] Cell cell_beside(const Inputs& in, const Int3& at, int n) const {
        return cell_of([&](int v) { return in.beside(v, at, n); });
    }
    /// D in M, and the V/dt that it has beyond that of diagonals() for the model. `physical`: V times that of
    /// the step. `inverse`: 1 / D of diagonals(), which says which cells are held.
    [[nodiscard]] Lanes find_matrix(Lanes (&M)[N][N], const Cell& own, const std::array<Vec, 2 * D>& sides,
                                    const std::array<Lanes, 2 * D>& swept, const StepSize& step,
                                    const Lanes& physical, const Lanes& inverse) const {
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
    /// An equation of the model: factors of a cell from those of the cell above. `slower`: V/dt beyond that
    /// of diagonals(). Faces: lower, upper.
    [[nodiscard]] NuFactor eliminate_nu(const NuFactor& above, bool first, LineEnd end, const Cell& own,
                                        const std::array<Vec, 2>& faces, const std::array<Lanes, 2>& swept,
                                        const Lanes& slower, const Lanes& diffusion, const Lanes& inverse,
                                        const Lanes& given) const {
        const Lanes zero{};
        // Of the change across a face, up the index or against it.
        const auto from = [&](std::size_t face, double sign) {
            const Vec& s = faces[face];
            return max(sign * (dot(own.u, s) - swept[face]), zero) + diffusion * dot(s, s);
        };
        Lanes own_part = 1.0 / inverse + slower;
        Lanes right = lines_.is_first ? Lanes(-given) : Lanes(own_part * given), e{};
        const Lanes upper = from(1, -1), lower = from(0, 1);
        const LineEnd top = first ? lines_.above : LineEnd::goes_on;
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

    const LineSet& lines_;
    std::size_t axis_;
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
                     const FieldView<double>& factors, const LineMatrices& matrices) {
    if (lines.axis == 0)
        Lines<Dim, true>(lines, patch, scheme, diagonals)
            .eliminate(step, given, above, factors_above, g, factors, matrices);
    else
        Lines<Dim, false>(lines, patch, scheme, diagonals)
            .eliminate(step, given, above, factors_above, g, factors, matrices);
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
