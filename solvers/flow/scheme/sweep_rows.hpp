// Eight rows of a plane as lanes. Lane l has row l of the eight, one cell behind the row before it. Rows are
// turned into lanes eight columns at a time.
//
// The way of a sweep and the components that it reads are values here, not parameters of templates, and what
// turns rows is a function of its own: columns lie in memory between loops, so nothing is gained by a copy of
// it for every component and every set of equations, and compilers take minutes for those.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/lanes/transpose.hpp"
#include "solvers/flow/scheme/patch.hpp"

namespace strata::flow {

/// A component of a field that a sweep reads as columns.
struct SweepInput {
    const FieldView<const double>* field = nullptr;
    int component = 0;
    double rest = 0;               ///< of cells before the first of a row or beyond it
    bool before = false;           ///< is the cell before the first read, if it is to be seen?
    int shift_i = 0, shift_j = 0;  ///< to the face before, beside that of the cell
};

class SweepRows {
  protected:
    SweepRows(const Box& cells, bool forward, bool has_planes, const std::array<bool, 3>& open)
        : lo_(cells.lo),
          hi_(cells.hi),
          n_(cells.extent(0)),
          forward_(forward),
          has_planes_(has_planes),
          up_(forward ? 1 : -1),
          open_(open) {}

    /// Calls each() for all eights of rows, in the order of the sweep.
    template <class Each>
    void over_groups(Each&& each) {
        const int planes = hi_[2] - lo_[2], rows = hi_[1] - lo_[1];
        for (int z = 0; z < planes; ++z)
            for (int y = 0; y < rows; y += kLanes) {
                k_ = forward_ ? lo_[2] + z : hi_[2] - 1 - z;
                j_ = forward_ ? lo_[1] + y : hi_[1] - 1 - y;
                rows_ = std::min(kLanes, rows - y);
                const bool last = y + kLanes >= rows;  // of the plane
                next_j_ = last ? -up_ * y : up_ * kLanes, next_k_ = last ? up_ : 0;
                each();
            }
    }
    /// What follows is about columns x0 to x0 + 7 of the skewed rows.
    void begin_columns(int x0) {
        x0_ = x0;
        ends_ = x0 - (kLanes - 1) < 0 || x0 + kLanes > n_;
        whole_ = !ends_ && rows_ == kLanes;
        if (!whole_ || graph::kChecked)
            for (int l = 0; l < kLanes; ++l)
                for (const int before : {0, 1})
                    parts_[before][l] =
                        l < rows_ ? part_of(x0 - l, before == 1 && open_[0] ? -1 : 0) : SomeLanes{};
    }

    /// Index along x of cell number x of the row.
    [[nodiscard]] int index(int x) const { return forward_ ? lo_[0] + x : hi_[0] - 1 - x; }
    [[nodiscard]] int row_of(int lane) const { return j_ + up_ * std::min(lane, rows_ - 1); }

    /// The columns of some components: out[n][t] has lane l's cell number x0 + t - l of component n.
    [[gnu::noinline]] void read_columns(const SweepInput* inputs, int count, Lanes (*out)[kLanes]) const {
        for (int n = 0; n < count; ++n) {
            const SweepInput& in = inputs[n];
            Lanes a[kLanes];
            const double* p = first_row(*in.field, in.component, in.shift_i, in.shift_j, in.before);
            const std::ptrdiff_t step = step_of(*in.field);
            if (whole_) {
                load_columns(p, step, a);
            } else {
                const SomeLanes* parts = parts_[in.before ? 1 : 0];
                for (int l = 0; l < kLanes; ++l) a[l] = load(p + l * step, parts[l], broadcast(in.rest));
                transpose(a);
            }
            put(a, out[n]);
        }
    }
    /// The same of rows that lie in memory with room on both sides.
    [[gnu::noinline]] void read_columns(const double* p, std::ptrdiff_t step, Lanes (&out)[kLanes]) const {
        Lanes a[kLanes];
        load_columns(p, step, a);
        put(a, out);
    }
    /// Component c of own cells.
    [[gnu::noinline]] void put_back(const FieldView<double>& f, int c, const Lanes (&from)[kLanes]) const {
        Lanes a[kLanes];
        put(from, a);
        double* p = first_row(f, c, 0, 0, false);
        if (whole_) return store_columns(p, step_of(f), a);
        transpose(a);
        for (int l = 0; l < kLanes; ++l) store(p + l * step_of(f), parts_[0][l], a[l]);
    }
    /// Cells number x0 to x0 + 7 of row j, of which [from, to) are read. Backward they lie in memory the
    /// other way round and stay so.
    [[gnu::noinline]] void read_row(const FieldView<const double>& f, int c, int from, int to, int j,
                                    double rest, double* out) const {
        if (from == x0_ && to == x0_ + kLanes) {
            const int i = forward_ ? index(x0_) : index(x0_ + kLanes - 1);
            return store(out, load(graph::pointer_to(f.row(j, k_, c) + i, kLanes)));
        }
        const int i = forward_ ? index(from) : index(to - 1);
        const double* p = graph::pointer_to(f.row(j, k_, c) + i, to - from);
        const int at = forward_ ? from - x0_ : x0_ + kLanes - to;
        store(out, load(p - at, at, at + to - from, broadcast(rest)));
    }
    /// Of rows that read_row() left as they lie in memory: in the order of the sweep.
    [[gnu::noinline]] void order_rows(double (*rows)[kLanes], int count) const {
        if (!forward_)
            for (int c = 0; c < count; ++c) std::reverse(rows[c], rows[c] + kLanes);
    }

    Int3 lo_, hi_;
    int n_, k_ = 0, j_ = 0, rows_ = 0;
    const bool forward_, has_planes_;
    const int up_;  // along each axis, from a cell to the next of the sweep
    const std::array<bool, 3>& open_;
    bool ends_ = false;  // of eight columns: rows begin or end there

  private:
    void put(const Lanes (&from)[kLanes], Lanes (&to)[kLanes]) const {
        if (forward_)
            for (int t = 0; t < kLanes; ++t) to[t] = from[t];
        else
            for (int t = 0; t < kLanes; ++t) to[t] = from[kLanes - 1 - t];
    }
    /// Which of eight cells of a row, as they lie in memory, are there.
    [[nodiscard]] SomeLanes part_of(int x, int first) const {
        const int from = std::max(x, first), to = std::min(x + kLanes, n_);
        if (from >= to) return {};
        const int at = forward_ ? from - x : x + kLanes - to;
        return some_lanes(at, at + to - from);
    }
    /// The cells that lane 0 has in the eight columns, and how far those of the next lane are.
    template <class T>
    T* first_row(const FieldView<T>& f, int c, int shift_i, int shift_j, [[maybe_unused]] bool before) const {
        const int i = (forward_ ? index(x0_) : index(x0_ + kLanes - 1)) + shift_i;
        if constexpr (graph::kChecked)
            for (int l = 0; l < kLanes; ++l)
                if (const auto [from, to] = range_of(parts_[before ? 1 : 0][l]); from < to)
                    (void)graph::pointer_to(f.row(j_ + shift_j + up_ * l, k_, c) + (i - up_ * l + from),
                                            to - from);
        T* p = f.origin() + i + (j_ + shift_j) * f.stride(1) + k_ * f.stride(2) + c * f.component_stride();
        // More rows than the processor follows by itself: eight of each of up to twenty components. In three
        // dimensions those of the next eight rows are asked for, so that memory has as long for them as these
        // take.
        const std::ptrdiff_t step = step_of(f), ahead = has_planes_
                                                            ? next_j_ * f.stride(1) + next_k_ * f.stride(2)
                                                        : forward_ ? 2 * kLanes
                                                                   : -kLanes;
        for (int l = 0; l < kLanes; ++l) __builtin_prefetch(p + l * step + ahead);
        return p;
    }
    template <class T>
    std::ptrdiff_t step_of(const FieldView<T>& f) const {
        return up_ * (f.stride(1) - 1);
    }

    int x0_ = 0;
    std::ptrdiff_t next_j_ = 0, next_k_ = 0;  // from these rows to the next eight
    SomeLanes parts_[2][kLanes];
    bool whole_ = false;  // of eight columns: all cells are there
};

}  // namespace strata::flow
