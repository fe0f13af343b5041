// Eight rows of a plane at once (sweep_rows.hpp). What a cell needs of the row before is what the lane beside
// it had in the last step, and what it needs along x is what it had itself. So the order is that of a sweep
// point by point, and values move between lanes, not through memory.
#include "solvers/flow/scheme/lusgs.hpp"

#include <algorithm>
#include <vector>

#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/lanes.hpp"
#include "solvers/flow/scheme/sweep_rows.hpp"

namespace strata::flow {
namespace {

/// The value of each lane moves to the next one; lane 0 gets `first`.
inline Lanes to_next_lane(const Lanes& a, double first) {
    return shuffle<15, 0, 1, 2, 3, 4, 5, 6>(a, broadcast(first));
}

/// `model`: equations of the turbulence model. Whether the sweep goes forward and whether the grid moves are
/// branches that a loop over columns always takes the same way: as parameters of the template they are four
/// times as much code to compile, and no faster.
template <int Dim, bool viscous, int model>
class Sweep : SweepRows {
    static constexpr std::size_t D = Dim;
    static constexpr int kState = Dim + 2;
    using Vec = Vector<Dim, Lanes>;
    static constexpr int kUnknowns = kState + model;
    static constexpr int kSome = model > 0 ? model : 1;  // for arrays
    /// What the state of a cell gives to the matrices of its faces: velocity, total enthalpy, half of the
    /// velocity's square, speed of sound, viscosity.
    static constexpr int kH = Dim, kHalf = Dim + 1, kA = Dim + 2, kVisc = Dim + 3,
                         kGiven = Dim + 3 + (viscous ? 1 : 0);
    using Given = std::array<Lanes, static_cast<std::size_t>(kGiven)>;
    using Change = std::array<Lanes, static_cast<std::size_t>(kUnknowns)>;
    /// The matrix of a face, (+-A . S + r) / 2 of the cell before it, with h = +-1/2: h S, h u . S, and what
    /// multiplies the change itself.
    struct Face {
        Vec s;
        Lanes through, own;
    };
    // What is read of the cells and faces themselves (kKnown, with what faces sweep as the last two), and of
    // the step: right-hand sides first.
    static constexpr int kAlong = kState, kAcross = kAlong + Dim, kDiffusion = kAcross + Dim,
                         kNuDiffusion = kDiffusion + (viscous ? 1 : 0), kSwept = kNuDiffusion + model,
                         kKnown = kSwept + 2, kInverse = kUnknowns, kStep = kInverse + 1 + model;

  public:
    Sweep(const Box& cells, bool forward, const Patch<Dim>& patch, double gamma, const Diagonals& diagonals,
          const std::array<bool, 3>& open, const Upwind& upwind, const Unknowns& unknowns)
        : SweepRows(cells, forward, Dim == 3, open),
          h_(forward ? 0.5 : -0.5),
          face_(forward ? 0 : 1),
          moves_(patch.moves()),
          patch_(patch),
          gamma_(gamma),
          diagonals_(diagonals),
          upwind_(upwind),
          mean_(unknowns.mean),
          nu_(unknowns.nu_tilde),
          own_mean_(readable(unknowns.mean)),
          own_nu_(readable(unknowns.nu_tilde)) {
        for (int c = 0; c < kState; ++c) {
            known_[c] = {&patch.q, c, rest_of(c), true};
            step_[c] = {&own_mean_, c};
        }
        for (int d = 0; d < Dim; ++d) {
            known_[kAlong + d] = {&patch.faces[0], d, 1, false, face_, 0};
            known_[kAcross + d] = {&patch.faces[1], d, 1, false, 0, face_};
        }
        if constexpr (viscous) known_[kDiffusion] = {&diagonals.viscosity, 0, 0, true};
        step_[kInverse] = {&diagonals.mean};
        for (int m = 0; m < model; ++m) {
            known_[kNuDiffusion + m] = {&diagonals.viscosity, diffusion_of(m)};
            step_[kState + m] = {&own_nu_, m};
            step_[kInverse + 1 + m] = {&diagonals.nu_tilde, m};
        }
        known_[kSwept] = {&patch.speeds[0], 0, 0, false, face_, 0};
        known_[kSwept + 1] = {&patch.speeds[1], 0, 0, false, 0, face_};
    }

    void run() {
        over_groups([&] { group(); });
    }

  private:
    /// Component c of the state, where there is no cell: density and energy are divided by.
    static constexpr double rest_of(int c) { return c == 0 || c == Dim + 1 ? 1 : 0; }

    /// Of a cell with the state q.
    [[nodiscard]] Given given(const Lanes (&q)[kState], [[maybe_unused]] const Lanes& viscosity) const {
        Given g;
        const Lanes over = 1.0 / q[0];
        Vec u;
        for (std::size_t d = 0; d < D; ++d) g[d] = u[d] = q[d + 1] * over;
        const Lanes half = 0.5 * dot(u, u), E = q[Dim + 1] * over;
        const Lanes a2 = (gamma_ * (gamma_ - 1)) * (E - half);
        g[kH] = E + a2 * (1 / gamma_);
        g[kHalf] = half;
        g[kA] = sqrt(a2);
        if constexpr (viscous) g[kVisc] = viscosity;
        return g;
    }
    static Vec velocity(const Given& g) {
        Vec u;
        for (std::size_t d = 0; d < D; ++d) u[d] = g[d];
        return u;
    }

    /// `swept`: by a face that moves (Patch::speeds); `square`: |S|^2.
    [[nodiscard]] Face face(const Given& g, const Vec& s, const Lanes& swept, const Lanes& square) const {
        Face f;
        for (std::size_t d = 0; d < D; ++d) f.s[d] = h_ * s[d];
        f.through = dot(velocity(g), f.s);
        Lanes seen = f.through;
        if (moves_) seen -= h_ * swept;
        Lanes half_radius = abs(seen) + (0.5 * g[kA]) * sqrt(square);
        if constexpr (viscous) half_radius += g[kVisc] * square;
        f.own = half_radius + seen;
        return f;
    }
    /// Adds the matrix of a face times the change of the cell before it. In A . S dq = (u . S) dq + (1, u, H)
    /// (S . dm - u . S drho) + (0, S, u . S) dp the first part is in Face::own.
    void add(const Given& g, const Face& f, const Change& dq, Change& sum) const {
        Lanes faster = f.s[0] * dq[1], work = g[0] * dq[1];
        for (std::size_t d = 1; d < D; ++d) faster += f.s[d] * dq[d + 1], work += g[d] * dq[d + 1];
        faster -= f.through * dq[0];
        const Lanes dp = (gamma_ - 1) * ((dq[Dim + 1] + g[kHalf] * dq[0]) - work);
        sum[0] += f.own * dq[0] + faster;
        for (std::size_t d = 0; d < D; ++d) sum[d + 1] += f.own * dq[d + 1] + (g[d] * faster + f.s[d] * dp);
        sum[Dim + 1] += f.own * dq[Dim + 1] + (g[kH] * faster + f.through * dp);
    }
    /// What multiplies the change of a model's variable: by the cell's own velocity and diffusion.
    [[nodiscard]] Lanes model_part(const Vec& own_u, const Lanes& diffusion, const Vec& s, const Lanes& swept,
                                   const Lanes& square) const {
        Lanes up = dot(own_u, s);
        if (moves_) up -= swept;
        if (!forward_) up = -up;
        return max(up, Lanes{}) + diffusion * square;
    }

    /// What the row before the eight gives, cells x0 to x0 + 7: in `feed_` by component, then cell.
    void feed(int x0) {
        const int j = j_ - up_;
        const bool inside = j >= lo_[1] && j < hi_[1];
        const int from = std::max(x0, 0), to = std::min(x0 + kLanes, n_);
        if ((!inside && !open_[1]) || from >= to) {
            for (auto& component : feed_) std::fill(std::begin(component), std::end(component), 0.0);
            return;
        }
        double row[kState][kLanes];
        Lanes q[kState], viscosity{};
        for (int c = 0; c < kState; ++c) {
            read_row(patch_.q, c, from, to, j, rest_of(c), row[c]);
            q[c] = load(row[c]);
        }
        if constexpr (viscous) {
            read_row(diagonals_.viscosity, 0, from, to, j, 0, row[0]);
            viscosity = load(row[0]);
        }
        const Given g = given(q, viscosity);
        for (int c = 0; c < kGiven; ++c) store(feed_[c], g[static_cast<std::size_t>(c)]);
        const FieldView<const double>& dq = inside ? own_mean_ : upwind_.mean;
        for (int c = 0; c < kState; ++c) read_row(dq, c, from, to, j, 0, feed_[kGiven + c]);
        const FieldView<const double>& dnu = inside ? own_nu_ : upwind_.nu_tilde;
        for (int m = 0; m < model; ++m) read_row(dnu, m, from, to, j, 0, feed_[kGiven + kState + m]);
        order_rows(feed_, kGiven + kUnknowns);
    }

    /// Three dimensions: what the plane before gives to row `lane` of the eight.
    [[gnu::flatten, gnu::noinline]] void plane_before(int lane) {
        const int j = row_of(lane), k = k_ - up_;
        const bool inside = k >= lo_[2] && k < hi_[2];
        over_eights(lo_[0], hi_[0], [&](int i, int n) {
            Change sum{};
            if (inside || open_[2]) {
                Lanes q[kState], viscosity{};
                for (int c = 0; c < kState; ++c) q[c] = load(patch_.q, i, j, k, c, n);
                if constexpr (viscous) viscosity = load(diagonals_.viscosity, i, j, k, 0, n);
                const Given g = given(q, viscosity);
                const FieldView<const double>& dq = inside ? own_mean_ : upwind_.mean;
                Change change;
                for (int c = 0; c < kState; ++c)
                    change[static_cast<std::size_t>(c)] = load(dq, i, j, k, c, n);
                Vec s;
                for (std::size_t d = 0; d < D; ++d)
                    s[d] = load(patch_.faces[D - 1], i, j, k_ + face_, static_cast<int>(d), n);
                const Lanes square = dot(s, s);
                Lanes swept{};
                if (moves_) swept = load(patch_.speeds[D - 1], i, j, k_ + face_, 0, n);
                add(g, face(g, s, swept, square), change, sum);
                if constexpr (model > 0) {
                    const Lanes over = 1.0 / load(patch_.q, i, j, k_, 0, n);
                    Vec u;
                    for (std::size_t d = 0; d < D; ++d)
                        u[d] = load(patch_.q, i, j, k_, static_cast<int>(d) + 1, n) * over;
                    for (int m = 0; m < model; ++m)
                        sum[static_cast<std::size_t>(kState + m)] =
                            model_part(u, load(diagonals_.viscosity, i, j, k_, diffusion_of(m), n), s, swept,
                                       square) *
                            load(inside ? own_nu_ : upwind_.nu_tilde, i, j, k, m, n);
                }
            }
            for (int c = 0; c < kUnknowns; ++c)
                store(before(lane, c) + (i - lo_[0]), sum[static_cast<std::size_t>(c)]);
        });
    }
    /// Row `lane` of component c: cell i at [i - lo], with room for what lanes read beyond both ends.
    double* before(int lane, int c) {
        const auto width = static_cast<std::size_t>((n_ + kLanes - 1) / kLanes * kLanes + 2 * kBeyond);
        return before_.data() + width * static_cast<std::size_t>(lane * kUnknowns + c) + kBeyond;
    }
    static constexpr int kBeyond = 2 * kLanes;

    /// Of eight columns, one behind the other, with the last one of the eight before in front.
    struct Columns {
        Given state[kLanes + 1];
        Change change;  // of the last one
    };
    /// Of eight columns: what the row before gives, and matrices of faces.
    struct Matrices {
        Given beside[kLanes];
        Face along[kLanes], across[kLanes];
        Lanes nu_along[kSome][kLanes], nu_across[kSome][kLanes];
    };

    /// Eight rows: steps -1 (the cells before the rows' first) to n + 6, eight at a time. All that is known
    /// beforehand is found first, for eight columns that do not wait for each other; then the changes, one
    /// column after the other.
    void group() {
        if constexpr (Dim == 3) {
            before_.resize(static_cast<std::size_t>((n_ + kLanes + 2 * kBeyond) * kLanes * kUnknowns));
            // Up in memory, as processors follow rows best.
            for (int l = 0; l < rows_; ++l) plane_before(forward_ ? l : rows_ - 1 - l);
        }
        Columns columns{};
        for (int x0 = -1; x0 < n_ + kLanes - 1; x0 += kLanes) {
            begin_columns(x0);
            Matrices matrices;
            prepare(x0, columns, matrices);
            changes(x0, columns, matrices);
            columns.state[0] = columns.state[kLanes];
        }
    }

    [[gnu::flatten, gnu::noinline]] void prepare(int x0, Columns& columns, Matrices& to) {
        Lanes known[kKnown][kLanes];
        read_columns(known_, moves_ ? kKnown : kSwept, known);
        feed(x0);
        for (int t = 0; t < kLanes; ++t) {
            Lanes own[kState];
            for (int c = 0; c < kState; ++c) own[c] = known[c][t];
            columns.state[t + 1] = given(own, viscous ? known[kDiffusion][t] : Lanes{});
        }
        for (int t = 0; t < kLanes; ++t) {
            const Given& before = columns.state[t];
            Given& beside = to.beside[t];
            for (std::size_t c = 0; c < kGiven; ++c) beside[c] = to_next_lane(before[c], feed_[c][t]);
            Vec s_along, s_across;
            for (int d = 0; d < Dim; ++d) {
                s_along[static_cast<std::size_t>(d)] = known[kAlong + d][t];
                s_across[static_cast<std::size_t>(d)] = known[kAcross + d][t];
            }
            Lanes swept_along{}, swept_across{};
            if (moves_) swept_along = known[kSwept][t], swept_across = known[kSwept + 1][t];
            const Lanes square_along = dot(s_along, s_along), square_across = dot(s_across, s_across);
            to.along[t] = face(before, s_along, swept_along, square_along);
            to.across[t] = face(beside, s_across, swept_across, square_across);
            const Vec u = velocity(columns.state[t + 1]);
            for (int m = 0; m < model; ++m) {
                const Lanes& diffusion = known[kNuDiffusion + m][t];
                to.nu_along[m][t] = model_part(u, diffusion, s_along, swept_along, square_along);
                to.nu_across[m][t] = model_part(u, diffusion, s_across, swept_across, square_across);
            }
        }
    }

    [[gnu::flatten, gnu::noinline]] void changes(int x0, Columns& columns, const Matrices& by) {
        Lanes step[kStep][kLanes], dq_first[kUnknowns][kLanes];
        [[maybe_unused]] Lanes plane[kUnknowns][kLanes];
        read_columns(step_, kStep, step);
        if constexpr (Dim == 3)
            for (int c = 0; c < kUnknowns; ++c)  // Rows of which there are none may have any values.
                read_columns(before(0, c) + (forward_ ? x0 : n_ - kLanes - x0),
                             before(1, c) - before(0, c) - up_, plane[c]);
        if (ends_) ghosts(x0, dq_first);
        Lanes number = Lanes{0, -1, -2, -3, -4, -5, -6, -7} + static_cast<double>(x0);
        for (int t = 0; t < kLanes; ++t, number += 1.0) {
            Change& last = columns.change;
            Change before, sum{};
            for (std::size_t c = 0; c < kUnknowns; ++c)
                before[c] = to_next_lane(last[c], feed_[kGiven + c][t]);
            if constexpr (Dim == 3)
                for (std::size_t c = 0; c < kUnknowns; ++c) sum[c] = plane[c][t];
            add(columns.state[t], by.along[t], last, sum);
            add(by.beside[t], by.across[t], before, sum);
            for (int m = 0; m < model; ++m) {
                const auto c = static_cast<std::size_t>(kState + m);
                sum[c] += by.nu_along[m][t] * last[c] + by.nu_across[m][t] * before[c];
            }
            for (std::size_t c = 0; c < kUnknowns; ++c) {
                const Lanes &over = step[kInverse + (c < kState ? 0 : c - kState + 1)][t], &rhs = step[c][t];
                Lanes now;
                if (forward_)
                    now = over * (sum[c] - rhs);
                else
                    now = rhs + over * sum[c];
                // Before the row's first cell: what lies upwind. Lanes beyond the row's last give nothing
                // that is used.
                if (ends_) now = select(number < 0.0, dq_first[c][t], now);
                step[c][t] = last[c] = now;
            }
        }
        for (int c = 0; c < kState; ++c) put_back(mean_, c, step[c]);
        for (int m = 0; m < model; ++m) put_back(nu_, m, step[kState + m]);
    }

    /// dq of the cells before the rows' first, where they are read; else none.
    [[gnu::noinline]] void ghosts(int x0, Lanes (&to)[kUnknowns][kLanes]) const {
        for (auto& component : to)
            for (auto& x : component) x = Lanes{};
        if (!open_[0]) return;
        for (int l = 0; l < rows_; ++l) {
            const int t = l - 1 - x0;  // the step at which lane l is there
            if (t < 0 || t >= kLanes) continue;
            for (int c = 0; c < kState; ++c) to[c][t][l] = upwind_.mean(index(-1), row_of(l), k_, c);
            for (int m = 0; m < model; ++m)
                to[kState + m][t][l] = upwind_.nu_tilde(index(-1), row_of(l), k_, m);
        }
    }

    const double h_;
    const int face_;  // index of the face to the cell before, beside that of the cell
    const bool moves_;
    const Patch<Dim>& patch_;
    double gamma_;
    const Diagonals& diagonals_;
    const Upwind& upwind_;
    const FieldView<double>&mean_, &nu_;
    FieldView<const double> own_mean_, own_nu_;
    SweepInput known_[kKnown], step_[kStep];
    double feed_[kGiven + kUnknowns][kLanes] = {};
    std::vector<double> before_;
};

template <int Dim>
void sweep(bool forward, const Box& cells, const Patch<Dim>& patch, const Scheme& scheme,
           const Diagonals& diagonals, const std::array<bool, 3>& open, const Upwind& upwind,
           const Unknowns& unknowns) {
    if (cells.empty()) return;
    const auto run = [&]<bool viscous, int model>() {
        Sweep<Dim, viscous, model>(cells, forward, patch, scheme.gas.gamma, diagonals, open, upwind, unknowns)
            .run();
    };
    switch (scheme.viscosity) {
        case Viscosity::none:
            return run.template operator()<false, 0>();
        case Viscosity::laminar:
        case Viscosity::frozen:
        case Viscosity::frozen_eddies:
            return run.template operator()<true, 0>();
        case Viscosity::spalart_allmaras:
            return run.template operator()<true, 1>();
        case Viscosity::sst:
            return run.template operator()<true, 2>();
    }
}

}  // namespace

template <int Dim>
void forward_sweep(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme,
                   const Diagonals& diagonals, const std::array<bool, 3>& open, const Upwind& upwind,
                   const Unknowns& unknowns) {
    sweep<Dim>(true, cells, patch, scheme, diagonals, open, upwind, unknowns);
}
template <int Dim>
void backward_sweep(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme,
                    const Diagonals& diagonals, const std::array<bool, 3>& open, const Upwind& upwind,
                    const Unknowns& unknowns) {
    sweep<Dim>(false, cells, patch, scheme, diagonals, open, upwind, unknowns);
}

#define STRATA_FLOW_SWEEP(name, Dim)                                                        \
    template void name<Dim>(const Box&, const Patch<Dim>&, const Scheme&, const Diagonals&, \
                            const std::array<bool, 3>&, const Upwind&, const Unknowns&);
STRATA_FLOW_SWEEP(forward_sweep, 2)
STRATA_FLOW_SWEEP(forward_sweep, 3)
STRATA_FLOW_SWEEP(backward_sweep, 2)
STRATA_FLOW_SWEEP(backward_sweep, 3)
#undef STRATA_FLOW_SWEEP

}  // namespace strata::flow
