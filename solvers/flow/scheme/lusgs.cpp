// Eight rows of a plane at once. Lane l has row l of the eight, one cell behind the row before it: what it
// needs of that row is what the lane beside it had in the last step, and what it needs along x is what it had
// itself. So the order is that of a sweep point by point, and values move between lanes, not through memory.
// Rows are turned into lanes eight columns at a time.
#include "solvers/flow/scheme/lusgs.hpp"

#include <algorithm>
#include <vector>

#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/lanes.hpp"

namespace strata::flow {
namespace {

/// Rows of a matrix of 8 x 8 become columns.
inline void transpose(Lanes (&a)[kLanes]) {
    Lanes b[kLanes], c[kLanes];
    for (int r = 0; r < 8; r += 2) {
        b[r] = shuffle<0, 8, 2, 10, 4, 12, 6, 14>(a[r], a[r + 1]);
        b[r + 1] = shuffle<1, 9, 3, 11, 5, 13, 7, 15>(a[r], a[r + 1]);
    }
    for (int r = 0; r < 8; r += 4)
        for (int s = 0; s < 2; ++s) {
            c[r + s] = shuffle<0, 1, 8, 9, 4, 5, 12, 13>(b[r + s], b[r + s + 2]);
            c[r + s + 2] = shuffle<2, 3, 10, 11, 6, 7, 14, 15>(b[r + s], b[r + s + 2]);
        }
    for (int s = 0; s < 4; ++s) {
        a[s] = shuffle<0, 1, 2, 3, 8, 9, 10, 11>(c[s], c[s + 4]);
        a[s + 4] = shuffle<4, 5, 6, 7, 12, 13, 14, 15>(c[s], c[s + 4]);
    }
}

/// The value of each lane moves to the next one; lane 0 gets `first`.
inline Lanes to_next_lane(const Lanes& a, double first) {
    return shuffle<15, 0, 1, 2, 3, 4, 5, 6>(a, broadcast(first));
}

/// `model`: equations of the turbulence model.
template <int Dim, bool forward, bool viscous, int model, bool moves>
class Sweep {
    static constexpr std::size_t D = Dim;
    static constexpr int kState = Dim + 2;
    using Vec = Vector<Dim, Lanes>;
    /// Of a cell, what its neighbours downstream need: velocity, total enthalpy, speed of sound, viscosity,
    /// dq, and the changes of the model's variables.
    static constexpr int kU = 0, kH = Dim, kA = Dim + 1, kVisc = Dim + 2, kDq = Dim + 3, kDnu = kDq + kState,
                         kGiven = kDnu + model;
    static constexpr int kUnknowns = kState + model;
    static constexpr int kSome = model > 0 ? model : 1;  // for arrays
    struct Given {
        Lanes v[kGiven];
    };

  public:
    Sweep(const Box& cells, const Patch<Dim>& patch, double gamma, const Diagonals& diagonals,
          const std::array<bool, 3>& open, const Upwind& upwind, const Unknowns& unknowns)
        : lo_(cells.lo),
          hi_(cells.hi),
          n_(cells.extent(0)),
          patch_(patch),
          gamma_(gamma),
          diagonals_(diagonals),
          open_(open),
          upwind_(upwind),
          mean_(unknowns.mean),
          nu_(unknowns.nu_tilde),
          own_mean_(readable(unknowns.mean)),
          own_nu_(readable(unknowns.nu_tilde)) {}

    void run() {
        const int planes = hi_[2] - lo_[2], rows = hi_[1] - lo_[1];
        for (int z = 0; z < planes; ++z)
            for (int y = 0; y < rows; y += kLanes) {
                k_ = forward ? lo_[2] + z : hi_[2] - 1 - z;
                j_ = forward ? lo_[1] + y : hi_[1] - 1 - y;
                rows_ = std::min(kLanes, rows - y);
                group();
            }
    }

  private:
    static constexpr int kUp = forward ? 1 : -1;  // along each axis, from a cell to the next of the sweep
    static constexpr int kFace =
        forward ? 0 : 1;  // index of the face to the cell before, beside that of the cell

    /// Index along x of cell number x of the row.
    [[nodiscard]] int index(int x) const { return forward ? lo_[0] + x : hi_[0] - 1 - x; }
    [[nodiscard]] int row_of(int lane) const { return j_ + kUp * std::min(lane, rows_ - 1); }

    /// What a cell with state q gives, but dq and dnu~.
    void states(const Lanes (&q)[kState], Given& g) const {
        const Lanes over = 1.0 / q[0];
        Vec u;
        for (std::size_t d = 0; d < D; ++d) u[d] = g.v[kU + static_cast<int>(d)] = q[d + 1] * over;
        const Lanes square = dot(u, u), E = q[Dim + 1] * over;
        const Lanes a2 = (gamma_ * (gamma_ - 1)) * (E - 0.5 * square);
        g.v[kH] = E + a2 * (1 / gamma_);
        g.v[kA] = sqrt(a2);
    }

    /// (+-A dq . S + r dq) / 2 of the cell before, and for the model the coefficient by the cell's own
    /// velocity and diffusion. `swept`: by a face that moves (Patch::speeds).
    void add(const Given& g, const Vec& s, const Lanes& swept, Lanes (&sum)[kState]) const {
        Vec u;
        Conserved<Dim, Lanes> dq;
        dq.rho = g.v[kDq];
        for (std::size_t d = 0; d < D; ++d) {
            u[d] = g.v[kU + static_cast<int>(d)];
            dq.m[d] = g.v[kDq + 1 + static_cast<int>(d)];
        }
        dq.E = g.v[kDq + Dim + 1];
        Conserved<Dim, Lanes> f = flux_change<Dim>(u, g.v[kH], dq, s, gamma_);
        Lanes through = dot(u, s);
        if constexpr (moves) {
            through -= swept, f.rho -= swept * dq.rho, f.E -= swept * dq.E;
            for (std::size_t d = 0; d < D; ++d) f.m[d] -= swept * dq.m[d];
        }
        const Lanes square = dot(s, s);
        Lanes r = abs(through) + g.v[kA] * sqrt(square);
        if constexpr (viscous) r += 2.0 * g.v[kVisc] * square;
        const auto part = [&](const Lanes& flux, const Lanes& change) {
            return 0.5 * (forward ? r * change + flux : r * change - flux);
        };
        sum[0] += part(f.rho, dq.rho);
        for (std::size_t d = 0; d < D; ++d) sum[d + 1] += part(f.m[d], dq.m[d]);
        sum[Dim + 1] += part(f.E, dq.E);
    }
    static Lanes nu_part(const Vec& own_u, const Lanes& diffusion, const Vec& s, const Lanes& swept,
                         const Lanes& dnu) {
        Lanes up = dot(own_u, s);
        if constexpr (moves) up -= swept;
        const Lanes through = forward ? up : -up;
        return (max(through, Lanes{}) + diffusion * dot(s, s)) * dnu;
    }

    /// Component c of a field, columns x0 to x0 + 7 of the skewed rows: out[t] has lane l's cell number x0 +
    /// t - l. Cells before `first` or beyond the row are `rest`.
    void turned(const FieldView<const double>& f, int c, int x0, int first, int shift_i, int shift_j,
                double rest, Lanes* out) const {
        Lanes a[kLanes];
        for (int l = 0; l < kLanes; ++l) {
            const int x = x0 - l, j = row_of(l) + shift_j;
            const int from = std::max(x, first), to = std::min(x + kLanes, n_);
            a[l] = cells_of(f, c, x, from, to, shift_i, j, rest);
        }
        transpose(a);
        for (int t = 0; t < kLanes; ++t) out[forward ? t : kLanes - 1 - t] = a[t];
    }
    /// Cells number x to x + 7 of a row, of which [from, to) are read. Backward they lie in memory the other
    /// way round and stay so.
    Lanes cells_of(const FieldView<const double>& f, int c, int x, int from, int to, int shift_i, int j,
                   double rest) const {
        if (from == x && to == x + kLanes) {
            const int i = (forward ? index(x) : index(x + kLanes - 1)) + shift_i;
            const double* p = graph::pointer_to(f.row(j, k_, c) + i, kLanes);
            // More rows than the processor follows by itself: eight of each of up to twenty components.
            __builtin_prefetch(p + (forward ? 2 : -1) * kLanes);
            return load(p);
        }
        if (from >= to) return broadcast(rest);
        const int i = (forward ? index(from) : index(to - 1)) + shift_i;
        const double* p = graph::pointer_to(f.row(j, k_, c) + i, to - from);
        const int at = forward ? from - x : x + kLanes - to;
        return load(p - at, at, at + to - from, broadcast(rest));
    }
    void put_back(const FieldView<double>& f, int c, int x0, const Lanes* from) const {
        Lanes a[kLanes];
        for (int t = 0; t < kLanes; ++t) a[t] = from[forward ? t : kLanes - 1 - t];
        transpose(a);
        for (int l = 0; l < rows_; ++l) {
            const int x = x0 - l, first = std::max(x, 0), last = std::min(x + kLanes, n_);
            if (first >= last) continue;
            const int i = forward ? index(first) : index(last - 1),
                      at = forward ? first - x : x + kLanes - last;
            double* p = graph::pointer_to(f.row(row_of(l), k_, c) + i, last - first);
            store(p - at, at, at + last - first, a[l]);
        }
    }

    /// What the row before the eight gives, cells x0 to x0 + 7: in `feed_` by component, then cell.
    void feed(int x0) {
        const int j = j_ - kUp;
        const bool inside = j >= lo_[1] && j < hi_[1];
        for (auto& component : feed_) std::fill(std::begin(component), std::end(component), 0.0);
        const int from = std::max(x0, 0), to = std::min(x0 + kLanes, n_);
        if ((!inside && !open_[1]) || from >= to) return;
        Lanes q[kState];
        for (int c = 0; c < kState; ++c)
            q[c] = cells_of(patch_.q, c, x0, from, to, 0, j, c == 0 || c == Dim + 1 ? 1 : 0);
        Given g;
        states(q, g);
        if constexpr (viscous) g.v[kVisc] = cells_of(diagonals_.viscosity, 0, x0, from, to, 0, j, 0);
        const FieldView<const double>& dq = inside ? own_mean_ : upwind_.mean;
        for (int c = 0; c < kState; ++c) g.v[kDq + c] = cells_of(dq, c, x0, from, to, 0, j, 0);
        for (int m = 0; m < model; ++m)
            g.v[kDnu + m] = cells_of(inside ? own_nu_ : upwind_.nu_tilde, m, x0, from, to, 0, j, 0);
        for (int c = 0; c < kGiven; ++c) {
            if (c == kVisc && !viscous) continue;
            store(feed_[c], forward ? g.v[c] : shuffle<7, 6, 5, 4, 3, 2, 1, 0>(g.v[c], g.v[c]));
        }
    }

    /// Three dimensions: what the plane before gives to row `lane` of the eight.
    [[gnu::flatten, gnu::noinline]] void plane_before(int lane) {
        const int j = row_of(lane), k = k_ - kUp;
        const bool inside = k >= lo_[2] && k < hi_[2];
        for (int i = lo_[0]; i < hi_[0]; i += kLanes) {
            const int n = std::min(kLanes, hi_[0] - i);
            Lanes sum[kState] = {}, nu[kSome] = {};
            if (inside || open_[2]) {
                Lanes q[kState];
                for (int c = 0; c < kState; ++c) q[c] = load(patch_.q, i, j, k, c, n);
                Given g;
                states(q, g);
                if constexpr (viscous) g.v[kVisc] = load(diagonals_.viscosity, i, j, k, 0, n);
                const FieldView<const double>& dq = inside ? own_mean_ : upwind_.mean;
                for (int c = 0; c < kState; ++c) g.v[kDq + c] = load(dq, i, j, k, c, n);
                Vec s;
                for (std::size_t d = 0; d < D; ++d)
                    s[d] = load(patch_.faces[D - 1], i, j, k_ + kFace, static_cast<int>(d), n);
                Lanes swept{};
                if constexpr (moves) swept = load(patch_.speeds[D - 1], i, j, k_ + kFace, 0, n);
                add(g, s, swept, sum);
                if constexpr (model > 0) {
                    const Lanes over = 1.0 / load(patch_.q, i, j, k_, 0, n);
                    Vec u;
                    for (std::size_t d = 0; d < D; ++d)
                        u[d] = load(patch_.q, i, j, k_, static_cast<int>(d) + 1, n) * over;
                    for (int m = 0; m < model; ++m)
                        nu[m] = nu_part(u, load(diagonals_.viscosity, i, j, k_, diffusion_of(m), n), s, swept,
                                        load(inside ? own_nu_ : upwind_.nu_tilde, i, j, k, m, n));
                }
            }
            for (int c = 0; c < kState; ++c) store(before(lane, c) + (i - lo_[0]), sum[c]);
            for (int m = 0; m < model; ++m) store(before(lane, kState + m) + (i - lo_[0]), nu[m]);
        }
    }
    double* before(int lane, int c) {
        const auto width = static_cast<std::size_t>((n_ + 2 * kLanes - 1) / kLanes * kLanes);
        return before_.data() + width * static_cast<std::size_t>(lane * kUnknowns + c);
    }
    void turned_before(int c, int x0, Lanes* out) {
        Lanes a[kLanes];
        for (int l = 0; l < kLanes; ++l) {
            const double* row = before(std::min(l, rows_ - 1), c);
            for (int t = 0; t < kLanes; ++t) {
                const int x = std::clamp(x0 + t - l, 0, n_ - 1);
                a[l][t] = row[forward ? x : n_ - 1 - x];
            }
        }
        transpose(a);
        for (int t = 0; t < kLanes; ++t) out[t] = a[t];
    }

    /// Eight rows: steps -1 (the cells before the rows' first) to n + 6, eight at a time.
    void group() {
        if constexpr (Dim == 3) {
            before_.resize(static_cast<std::size_t>((n_ + 2 * kLanes) * kLanes * kUnknowns));
            for (int l = 0; l < rows_; ++l) plane_before(l);
        }
        Given last{};
        for (int x0 = -1; x0 < n_ + kLanes - 1; x0 += kLanes) block(x0, last);
    }

    [[gnu::flatten, gnu::noinline]] void block(int x0, Given& last) {
        const bool ends = x0 - (kLanes - 1) < 0 || x0 + kLanes > n_;
        const int first = open_[0] ? -1 : 0;
        Lanes q[kState][kLanes], rhs[kState][kLanes], inverse[kLanes], s0[D][kLanes], s1[D][kLanes];
        [[maybe_unused]] Lanes swept0[kLanes], swept1[kLanes];
        Lanes visc[kLanes], dq_first[kUnknowns][kLanes];
        Lanes nu_visc[kSome][kLanes], nu_rhs[kSome][kLanes], nu_inverse[kSome][kLanes];
        for (int c = 0; c < kState; ++c) {
            turned(patch_.q, c, x0, first, 0, 0, c == 0 || c == Dim + 1 ? 1 : 0, q[c]);
            turned(own_mean_, c, x0, 0, 0, 0, 0, rhs[c]);
        }
        turned(diagonals_.mean, 0, x0, 0, 0, 0, 0, inverse);
        for (int d = 0; d < Dim; ++d) {
            turned(patch_.faces[0], d, x0, 0, kFace, 0, 1, s0[d]);
            turned(patch_.faces[1], d, x0, 0, 0, kFace, 1, s1[d]);
        }
        if constexpr (moves) {
            turned(patch_.speeds[0], 0, x0, 0, kFace, 0, 0, swept0);
            turned(patch_.speeds[1], 0, x0, 0, 0, kFace, 0, swept1);
        }
        if constexpr (viscous) turned(diagonals_.viscosity, 0, x0, first, 0, 0, 0, visc);
        for (int m = 0; m < model; ++m) {
            turned(diagonals_.viscosity, diffusion_of(m), x0, 0, 0, 0, 0, nu_visc[m]);
            turned(own_nu_, m, x0, 0, 0, 0, 0, nu_rhs[m]);
            turned(diagonals_.nu_tilde, m, x0, 0, 0, 0, 0, nu_inverse[m]);
        }
        Lanes plane[kUnknowns][kLanes];
        if constexpr (Dim == 3) {
            for (int c = 0; c < kUnknowns; ++c) turned_before(c, x0, plane[c]);
        }
        if (ends) ghosts(x0, dq_first);
        feed(x0);

        Lanes number = Lanes{0, -1, -2, -3, -4, -5, -6, -7} + static_cast<double>(x0);
        const Lanes zero{};
        for (int t = 0; t < kLanes; ++t, number += 1.0) {
            Given beside;  // of the row before, the same column
            for (int c = 0; c < kGiven; ++c) {
                if (c == kVisc && !viscous) continue;
                beside.v[c] = to_next_lane(last.v[c], feed_[c][t]);
            }
            const Vec along{column(s0, t)}, across{column(s1, t)};
            Lanes swept_along{}, swept_across{};
            if constexpr (moves) swept_along = swept0[t], swept_across = swept1[t];
            Lanes sum[kState];
            for (int c = 0; c < kState; ++c) sum[c] = zero;
            if constexpr (Dim == 3)
                for (int c = 0; c < kState; ++c) sum[c] = plane[c][t];
            add(last, along, swept_along, sum);
            add(beside, across, swept_across, sum);

            Lanes own[kState];
            for (int c = 0; c < kState; ++c) own[c] = q[c][t];
            Given now;
            states(own, now);
            if constexpr (viscous) now.v[kVisc] = visc[t];
            for (int c = 0; c < kState; ++c)
                now.v[kDq + c] =
                    forward ? inverse[t] * (sum[c] - rhs[c][t]) : rhs[c][t] + inverse[t] * sum[c];
            if constexpr (model > 0) {
                Vec u;
                for (std::size_t d = 0; d < D; ++d) u[d] = now.v[kU + static_cast<int>(d)];
                for (int m = 0; m < model; ++m) {
                    Lanes nu = nu_part(u, nu_visc[m][t], along, swept_along, last.v[kDnu + m]) +
                               nu_part(u, nu_visc[m][t], across, swept_across, beside.v[kDnu + m]);
                    if constexpr (Dim == 3) nu += plane[kState + m][t];
                    now.v[kDnu + m] = forward ? nu_inverse[m][t] * (nu - nu_rhs[m][t])
                                              : nu_rhs[m][t] + nu_inverse[m][t] * nu;
                }
            }
            if (ends) {
                // Before the row's first cell: what lies upwind. Lanes beyond the row's last give nothing
                // that is used.
                const auto early = number < zero;
                for (int c = 0; c < kUnknowns; ++c)
                    now.v[kDq + c] = select(early, dq_first[c][t], now.v[kDq + c]);
            }
            for (int c = 0; c < kState; ++c) rhs[c][t] = now.v[kDq + c];
            for (int m = 0; m < model; ++m) nu_rhs[m][t] = now.v[kDnu + m];
            last = now;
        }
        for (int c = 0; c < kState; ++c) put_back(mean_, c, x0, rhs[c]);
        for (int m = 0; m < model; ++m) put_back(nu_, m, x0, nu_rhs[m]);
    }
    static Vec column(const Lanes (&s)[D][kLanes], int t) {
        Vec v;
        for (std::size_t d = 0; d < D; ++d) v[d] = s[d][t];
        return v;
    }

    /// dq of the cells before the rows' first, where they are read; else none.
    void ghosts(int x0, Lanes (&to)[kUnknowns][kLanes]) const {
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

    Int3 lo_, hi_;
    int n_, k_ = 0, j_ = 0, rows_ = 0;
    const Patch<Dim>& patch_;
    double gamma_;
    const Diagonals& diagonals_;
    const std::array<bool, 3>& open_;
    const Upwind& upwind_;
    const FieldView<double>&mean_, &nu_;
    FieldView<const double> own_mean_, own_nu_;
    double feed_[kGiven][kLanes] = {};
    std::vector<double> before_;
};

template <int Dim, bool forward>
void sweep(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme, const Diagonals& diagonals,
           const std::array<bool, 3>& open, const Upwind& upwind, const Unknowns& unknowns) {
    if (cells.empty()) return;
    const double gamma = scheme.gas.gamma;
    by_motion(patch, [&](auto moves) {
        const auto run = [&](auto viscous, auto model) {
            Sweep<Dim, forward, viscous, model, moves>(cells, patch, gamma, diagonals, open, upwind, unknowns)
                .run();
        };
        constexpr std::integral_constant<int, 0> none{};
        switch (scheme.viscosity) {
            case Viscosity::none:
                return run(std::false_type{}, none);
            case Viscosity::laminar:
            case Viscosity::frozen:
            case Viscosity::frozen_eddies:
                return run(std::true_type{}, none);
            case Viscosity::spalart_allmaras:
                return run(std::true_type{}, std::integral_constant<int, 1>{});
            case Viscosity::sst:
                return run(std::true_type{}, std::integral_constant<int, 2>{});
        }
    });
}

}  // namespace

template <int Dim>
void forward_sweep(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme,
                   const Diagonals& diagonals, const std::array<bool, 3>& open, const Upwind& upwind,
                   const Unknowns& unknowns) {
    sweep<Dim, true>(cells, patch, scheme, diagonals, open, upwind, unknowns);
}
template <int Dim>
void backward_sweep(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme,
                    const Diagonals& diagonals, const std::array<bool, 3>& open, const Upwind& upwind,
                    const Unknowns& unknowns) {
    sweep<Dim, false>(cells, patch, scheme, diagonals, open, upwind, unknowns);
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
