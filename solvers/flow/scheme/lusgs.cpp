// Eight rows of a plane at once. Lane l has row l of the eight, one cell behind the row before it: what it
// needs of that row is what the lane beside it had in the last step, and what it needs along x is what it had
// itself. So the order is that of a sweep point by point, and values move between lanes, not through memory.
// Rows are turned into lanes eight columns at a time.
#include "solvers/flow/scheme/lusgs.hpp"

#include <algorithm>
#include <vector>

#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/lanes.hpp"
#include "solvers/flow/scheme/turn.hpp"

namespace strata::flow {
namespace {

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
                const bool last = y + kLanes >= rows;  // of the plane
                next_j_ = last ? -kUp * y : kUp * kLanes, next_k_ = last ? kUp : 0;
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
    static Face face(const Given& g, const Vec& s, const Lanes& swept, const Lanes& square) {
        constexpr double h = forward ? 0.5 : -0.5;
        Face f;
        for (std::size_t d = 0; d < D; ++d) f.s[d] = h * s[d];
        f.through = dot(velocity(g), f.s);
        Lanes seen = f.through;
        if constexpr (moves) seen -= h * swept;
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
    static Lanes model_part(const Vec& own_u, const Lanes& diffusion, const Vec& s, const Lanes& swept,
                            const Lanes& square) {
        Lanes up = dot(own_u, s);
        if constexpr (moves) up -= swept;
        return max(forward ? up : -up, Lanes{}) + diffusion * square;
    }

    /// Component c of a field, columns x0 to x0 + 7 of the skewed rows: out[t] has lane l's cell number x0 +
    /// t - l. Where rows begin or end there, cells before the first (with `before`: before the one before
    /// that, if it is to be seen) or beyond the row are `rest`.
    void turned(const FieldView<const double>& f, int c, int x0, bool before, int shift_i, int shift_j,
                double rest, Lanes* out) const {
        Lanes a[kLanes];
        const double* p = first_row(f, c, x0, shift_i, shift_j, before);
        if (whole_) {
            load_columns(p, step_of(f), a);
        } else {
            for (int l = 0; l < kLanes; ++l) {
                a[l] = load(p + l * step_of(f), parts_[before ? 1 : 0][l], broadcast(rest));
            }
            turn(a);
        }
        for (int t = 0; t < kLanes; ++t) out[forward ? t : kLanes - 1 - t] = a[t];
    }
    /// Which of eight cells of a row, as they lie in memory, are there.
    [[nodiscard]] SomeLanes part_of(int x, int first) const {
        const int from = std::max(x, first), to = std::min(x + kLanes, n_);
        if (from >= to) return {};
        const int at = forward ? from - x : x + kLanes - to;
        return some_lanes(at, at + to - from);
    }
    /// The cells that lane 0 has in eight columns, and how far those of the next lane are.
    template <class T>
    T* first_row(const FieldView<T>& f, int c, int x0, int shift_i, int shift_j,
                 [[maybe_unused]] bool before) const {
        const int i = (forward ? index(x0) : index(x0 + kLanes - 1)) + shift_i;
        if constexpr (graph::kChecked)
            for (int l = 0; l < kLanes; ++l)
                if (const auto [from, to] = range_of(parts_[before ? 1 : 0][l]); from < to)
                    (void)graph::pointer_to(f.row(j_ + shift_j + kUp * l, k_, c) + (i - kUp * l + from),
                                            to - from);
        T* p = f.origin() + i + (j_ + shift_j) * f.stride(1) + k_ * f.stride(2) + c * f.component_stride();
        // More rows than the processor follows by itself: eight of each of up to twenty components. In three
        // dimensions those of the next eight rows are asked for, so that memory has as long for them as these
        // take.
        const std::ptrdiff_t step = step_of(f), ahead = Dim == 3
                                                            ? next_j_ * f.stride(1) + next_k_ * f.stride(2)
                                                        : forward ? 2 * kLanes
                                                                  : -kLanes;
        for (int l = 0; l < kLanes; ++l) __builtin_prefetch(p + l * step + ahead);
        return p;
    }
    template <class T>
    static std::ptrdiff_t step_of(const FieldView<T>& f) {
        return kUp * (f.stride(1) - 1);
    }
    /// Cells number x to x + 7 of a row, of which [from, to) are read. Backward they lie in memory the other
    /// way round and stay so.
    Lanes cells_of(const FieldView<const double>& f, int c, int x, int from, int to, int shift_i, int j,
                   double rest) const {
        if (from == x && to == x + kLanes) {
            const int i = (forward ? index(x) : index(x + kLanes - 1)) + shift_i;
            return load(graph::pointer_to(f.row(j, k_, c) + i, kLanes));
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
        double* p = first_row(f, c, x0, 0, 0, false);
        if (whole_) return store_columns(p, step_of(f), a);
        turn(a);
        for (int l = 0; l < kLanes; ++l) store(p + l * step_of(f), parts_[0][l], a[l]);
    }

    /// What the row before the eight gives, cells x0 to x0 + 7: in `feed_` by component, then cell.
    void feed(int x0) {
        const int j = j_ - kUp;
        const bool inside = j >= lo_[1] && j < hi_[1];
        for (auto& component : feed_) std::fill(std::begin(component), std::end(component), 0.0);
        const int from = std::max(x0, 0), to = std::min(x0 + kLanes, n_);
        if ((!inside && !open_[1]) || from >= to) return;
        Lanes q[kState], viscosity{};
        for (int c = 0; c < kState; ++c)
            q[c] = cells_of(patch_.q, c, x0, from, to, 0, j, c == 0 || c == Dim + 1 ? 1 : 0);
        if constexpr (viscous) viscosity = cells_of(diagonals_.viscosity, 0, x0, from, to, 0, j, 0);
        const Given g = given(q, viscosity);
        const auto put = [&](int c, const Lanes& x) {
            store(feed_[c], forward ? x : shuffle<7, 6, 5, 4, 3, 2, 1, 0>(x, x));
        };
        for (int c = 0; c < kGiven; ++c) put(c, g[static_cast<std::size_t>(c)]);
        const FieldView<const double>& dq = inside ? own_mean_ : upwind_.mean;
        for (int c = 0; c < kState; ++c) put(kGiven + c, cells_of(dq, c, x0, from, to, 0, j, 0));
        for (int m = 0; m < model; ++m)
            put(kGiven + kState + m, cells_of(inside ? own_nu_ : upwind_.nu_tilde, m, x0, from, to, 0, j, 0));
    }

    /// Three dimensions: what the plane before gives to row `lane` of the eight.
    [[gnu::flatten, gnu::noinline]] void plane_before(int lane) {
        const int j = row_of(lane), k = k_ - kUp;
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
                    s[d] = load(patch_.faces[D - 1], i, j, k_ + kFace, static_cast<int>(d), n);
                const Lanes square = dot(s, s);
                Lanes swept{};
                if constexpr (moves) swept = load(patch_.speeds[D - 1], i, j, k_ + kFace, 0, n);
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
    void turned_before(int c, int x0, Lanes* out) {
        Lanes a[kLanes];
        // Rows of which there are none may have any values.
        const double* p = before(0, c) + (forward ? x0 : n_ - kLanes - x0);
        load_columns(p, before(1, c) - before(0, c) - kUp, a);
        for (int t = 0; t < kLanes; ++t) out[forward ? t : kLanes - 1 - t] = a[t];
    }

    /// Of eight columns, one behind the other, with the last one of the eight before in front.
    struct Columns {
        Given state[kLanes + 1];
        Change change;  // of the last one
    };

    /// Eight rows: steps -1 (the cells before the rows' first) to n + 6, eight at a time.
    void group() {
        if constexpr (Dim == 3) {
            before_.resize(static_cast<std::size_t>((n_ + kLanes + 2 * kBeyond) * kLanes * kUnknowns));
            // Up in memory, as processors follow rows best.
            for (int l = 0; l < rows_; ++l) plane_before(forward ? l : rows_ - 1 - l);
        }
        Columns columns{};
        for (int x0 = -1; x0 < n_ + kLanes - 1; x0 += kLanes) block(x0, columns);
    }

    /// All that is known beforehand is found first, for eight columns that do not wait for each other; then
    /// the changes, one column after the other.
    [[gnu::flatten, gnu::noinline]] void block(int x0, Columns& columns) {
        ends_ = x0 - (kLanes - 1) < 0 || x0 + kLanes > n_;
        whole_ = !ends_ && rows_ == kLanes;
        if (!whole_ || graph::kChecked)
            for (int l = 0; l < kLanes; ++l)
                for (const int before : {0, 1})
                    parts_[before][l] =
                        l < rows_ ? part_of(x0 - l, before == 1 && open_[0] ? -1 : 0) : SomeLanes{};
        Lanes q[kState][kLanes], s0[D][kLanes], s1[D][kLanes], visc[kLanes];
        [[maybe_unused]] Lanes swept0[kLanes], swept1[kLanes], nu_visc[kSome][kLanes];
        for (int c = 0; c < kState; ++c)
            turned(patch_.q, c, x0, true, 0, 0, c == 0 || c == Dim + 1 ? 1 : 0, q[c]);
        for (int d = 0; d < Dim; ++d) {
            turned(patch_.faces[0], d, x0, false, kFace, 0, 1, s0[d]);
            turned(patch_.faces[1], d, x0, false, 0, kFace, 1, s1[d]);
        }
        if constexpr (moves) {
            turned(patch_.speeds[0], 0, x0, false, kFace, 0, 0, swept0);
            turned(patch_.speeds[1], 0, x0, false, 0, kFace, 0, swept1);
        }
        if constexpr (viscous) turned(diagonals_.viscosity, 0, x0, true, 0, 0, 0, visc);
        for (int m = 0; m < model; ++m)
            turned(diagonals_.viscosity, diffusion_of(m), x0, false, 0, 0, 0, nu_visc[m]);
        feed(x0);

        Given beside[kLanes];  // of the row before, the same column
        Face along[kLanes], across[kLanes];
        Lanes nu_along[kSome][kLanes], nu_across[kSome][kLanes];
        for (int t = 0; t < kLanes; ++t) {
            Lanes own[kState];
            for (int c = 0; c < kState; ++c) own[c] = q[c][t];
            columns.state[t + 1] = given(own, viscous ? visc[t] : Lanes{});
        }
        for (int t = 0; t < kLanes; ++t) {
            const Given& before = columns.state[t];
            for (std::size_t c = 0; c < kGiven; ++c) beside[t][c] = to_next_lane(before[c], feed_[c][t]);
            const Vec s_along{column(s0, t)}, s_across{column(s1, t)};
            Lanes swept_along{}, swept_across{};
            if constexpr (moves) swept_along = swept0[t], swept_across = swept1[t];
            const Lanes square_along = dot(s_along, s_along), square_across = dot(s_across, s_across);
            along[t] = face(before, s_along, swept_along, square_along);
            across[t] = face(beside[t], s_across, swept_across, square_across);
            const Vec u = velocity(columns.state[t + 1]);
            for (int m = 0; m < model; ++m) {
                nu_along[m][t] = model_part(u, nu_visc[m][t], s_along, swept_along, square_along);
                nu_across[m][t] = model_part(u, nu_visc[m][t], s_across, swept_across, square_across);
            }
        }
        changes(x0, columns, beside, along, across, nu_along, nu_across);
        columns.state[0] = columns.state[kLanes];
    }

    void changes(int x0, Columns& columns, const Given (&beside)[kLanes], const Face (&along)[kLanes],
                 const Face (&across)[kLanes], const Lanes (&nu_along)[kSome][kLanes],
                 const Lanes (&nu_across)[kSome][kLanes]) {
        Lanes rhs[kUnknowns][kLanes], inverse[1 + kSome][kLanes], dq_first[kUnknowns][kLanes];
        [[maybe_unused]] Lanes plane[kUnknowns][kLanes];
        for (int c = 0; c < kState; ++c) turned(own_mean_, c, x0, false, 0, 0, 0, rhs[c]);
        turned(diagonals_.mean, 0, x0, false, 0, 0, 0, inverse[0]);
        for (int m = 0; m < model; ++m) {
            turned(own_nu_, m, x0, false, 0, 0, 0, rhs[kState + m]);
            turned(diagonals_.nu_tilde, m, x0, false, 0, 0, 0, inverse[1 + m]);
        }
        if constexpr (Dim == 3)
            for (int c = 0; c < kUnknowns; ++c) turned_before(c, x0, plane[c]);
        if (ends_) ghosts(x0, dq_first);
        Lanes number = Lanes{0, -1, -2, -3, -4, -5, -6, -7} + static_cast<double>(x0);
        for (int t = 0; t < kLanes; ++t, number += 1.0) {
            Change& last = columns.change;
            Change before, sum{};
            for (std::size_t c = 0; c < kUnknowns; ++c)
                before[c] = to_next_lane(last[c], feed_[kGiven + c][t]);
            if constexpr (Dim == 3)
                for (std::size_t c = 0; c < kUnknowns; ++c) sum[c] = plane[c][t];
            add(columns.state[t], along[t], last, sum);
            add(beside[t], across[t], before, sum);
            for (int m = 0; m < model; ++m) {
                const auto c = static_cast<std::size_t>(kState + m);
                sum[c] += nu_along[m][t] * last[c] + nu_across[m][t] * before[c];
            }
            for (std::size_t c = 0; c < kUnknowns; ++c) {
                const Lanes& over = inverse[c < kState ? 0 : c - kState + 1][t];
                Lanes now = forward ? over * (sum[c] - rhs[c][t]) : rhs[c][t] + over * sum[c];
                // Before the row's first cell: what lies upwind. Lanes beyond the row's last give nothing
                // that is used.
                if (ends_) now = select(number < 0.0, dq_first[c][t], now);
                rhs[c][t] = last[c] = now;
            }
        }
        for (int c = 0; c < kState; ++c) put_back(mean_, c, x0, rhs[c]);
        for (int m = 0; m < model; ++m) put_back(nu_, m, x0, rhs[kState + m]);
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
    std::ptrdiff_t next_j_ = 0, next_k_ = 0;  // from these rows to the next eight
    SomeLanes parts_[2][kLanes];
    bool ends_ = false, whole_ = false;  // of eight columns: rows begin or end there; all cells are there
    const Patch<Dim>& patch_;
    double gamma_;
    const Diagonals& diagonals_;
    const std::array<bool, 3>& open_;
    const Upwind& upwind_;
    const FieldView<double>&mean_, &nu_;
    FieldView<const double> own_mean_, own_nu_;
    double feed_[kGiven + kUnknowns][kLanes] = {};
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
