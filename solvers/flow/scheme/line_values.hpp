// The values that eight lines have in the cells on which a kernel is at work: where lines lie side by side
// along x straight from memory, and where they go along x from rows that are turned eight cells at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/lanes/transpose.hpp"
#include "solvers/flow/scheme/apart.hpp"
#include "solvers/flow/scheme/patch.hpp"

namespace strata::flow {

/// A value of the cell at `at` in each of n <= 8 lines, which lie side by side along x, or along y.
template <bool along_x>
[[nodiscard]] Lanes in_lines(const FieldView<const double>& f, const Int3& at, int c, int n) {
    if constexpr (along_x)
        return load_apart(apart_pointer(f, at, c, n), f.stride(1), n);
    else
        return load(f, at[0], at[1], at[2], c, n);
}

/// Eight cells, or fewer at a line's end, of up to eight lines.
struct LineBlock {
    Int3 at{};             // its lowest cell, of the first line
    std::size_t axis = 1;  // of the lines
    int cells = 0;         // of each line
    int lines = 0;
};

[[nodiscard]] inline Int3 cell_in(const LineBlock& block, int number) {
    Int3 at = block.at;
    at[block.axis] += number;
    return at;
}

/// What a kernel reads in the cells of a block, each value by the number that add() gave it.
template <bool along_x, int kMost>
class LineInputs {
  public:
    /// Component c of a field, `offset` beside the cell.
    int add(const FieldView<const double>& f, int c, const Int3& offset = {}) {
        sources_[static_cast<std::size_t>(count_)] = {&f, c, offset};
        return count_++;
    }
    void begin(const LineBlock& block) {
        block_ = block;
        for (int n = 0; n < count_; ++n) {
            const Source& s = sources_[static_cast<std::size_t>(n)];
            const int i = block.at[0] + s.offset[0], j = block.at[1] + s.offset[1],
                      k = block.at[2] + s.offset[2];
            if constexpr (!along_x && graph::kChecked) {
                continue;
            } else if constexpr (!along_x) {
                places_[n] = {s.field->row(j, k, s.component) + i,
                              s.field->stride(static_cast<int>(block.axis))};
            } else if (block.cells == kLanes && block.lines == kLanes) {
                load_columns(apart_pointer(*s.field, {i, j, k}, s.component, kLanes, kLanes),
                             s.field->stride(1), turned_[n]);
            } else {
                Lanes(&a)[kLanes] = turned_[n];
                for (int r = 0; r < kLanes; ++r)
                    a[r] = r < block.lines
                               ? load(graph::pointer_to(s.field->row(j + r, k, s.component) + i, block.cells),
                                      block.cells)
                               : Lanes{};
                transpose(a);
            }
        }
    }
    /// Value n of a cell of the block, from 0, in so many lines: those of the block.
    [[nodiscard]] Lanes operator()(int n, int cell, [[maybe_unused]] int lines) const {
        if constexpr (along_x)
            return turned_[n][cell];
        else if constexpr (!along_x && graph::kChecked)
            return beside(n, cell_in(block_, cell), lines);
        else
            return load_masked(places_[n].first + cell * places_[n].step, lines);
    }
    /// Of any cell.
    [[nodiscard]] Lanes beside(int n, const Int3& at, int lines) const {
        const Source& s = sources_[static_cast<std::size_t>(n)];
        return in_lines<along_x>(*s.field, {at[0] + s.offset[0], at[1] + s.offset[1], at[2] + s.offset[2]},
                                 s.component, lines);
    }

  private:
    struct Source {
        const FieldView<const double>* field;
        int component;
        Int3 offset;
    };
    struct Place {  // of the block's lowest cell, and to the next one
        const double* first;
        std::ptrdiff_t step;
    };
    std::array<Source, kMost> sources_;
    LineBlock block_{};
    int count_ = 0;
    Place places_[along_x ? 1 : kMost];
    Lanes turned_[along_x ? kMost : 1][kLanes];
};

/// What it writes.
template <bool along_x, int kMost>
class LineOutputs {
  public:
    int add(const FieldView<double>& f, int c) {
        fields_[static_cast<std::size_t>(count_)] = {&f, c};
        return count_++;
    }
    void begin(const LineBlock& block) {
        block_ = block;
        if constexpr (!along_x && !graph::kChecked)
            for (int n = 0; n < count_; ++n) {
                const auto& [field, c] = fields_[static_cast<std::size_t>(n)];
                places_[n] = {field->row(block.at[1], block.at[2], c) + block.at[0],
                              field->stride(static_cast<int>(block.axis))};
            }
    }
    void put(int n, int cell, const Lanes& x, [[maybe_unused]] int lines) {
        if constexpr (along_x) {
            turned_[n][cell] = x;
        } else if constexpr (!along_x && graph::kChecked) {
            const Int3 at = cell_in(block_, cell);
            const auto& [field, c] = fields_[static_cast<std::size_t>(n)];
            store(*field, at[0], at[1], at[2], c, x, lines);
        } else {
            store_masked(places_[n].first + cell * places_[n].step, x, lines);
        }
    }
    /// After the last cell of a block.
    void end(const LineBlock& block) {
        if constexpr (along_x)
            for (int n = 0; n < count_; ++n) {
                const auto& [field, c] = fields_[static_cast<std::size_t>(n)];
                const int i = block.at[0], j = block.at[1], k = block.at[2];
                Lanes(&a)[kLanes] = turned_[n];
                if (block.cells == kLanes && block.lines == kLanes) {
                    store_columns(apart_pointer(*field, block.at, c, kLanes, kLanes), field->stride(1), a);
                    continue;
                }
                for (int cell = block.cells; cell < kLanes; ++cell) a[cell] = Lanes{};
                transpose(a);
                for (int r = 0; r < block.lines; ++r)
                    store(graph::pointer_to(field->row(j + r, k, c) + i, block.cells), a[r], block.cells);
            }
    }

  private:
    struct Field {
        const FieldView<double>* field;
        int component;
    };
    struct Place {
        double* first;
        std::ptrdiff_t step;
    };
    std::array<Field, kMost> fields_;
    LineBlock block_{};
    int count_ = 0;
    Place places_[along_x ? 1 : kMost];
    Lanes turned_[along_x ? kMost : 1][kLanes];
};

/// The cells of lines, eight lines at a time, up (1) or down (-1). For each eight lines start(lanes, first
/// cell); for each block begin(block), cell(block, number of the cell in it, whether it is the first of the
/// line, whether the last), end(block).
template <bool along_x, class Start, class Begin, class Cell, class End>
void over_lines(const Box& cells, std::size_t axis, int way, Start&& start, Begin&& begin, Cell&& cell,
                End&& end) {
    constexpr std::size_t across = along_x ? 1 : 0;
    const std::size_t third = 3 - axis - across;
    const int length = cells.extent(static_cast<int>(axis)), low = cells.lo[axis], high = cells.hi[axis];
    Int3 at{};
    for (int other = cells.lo[third]; other < cells.hi[third]; ++other)
        for (int i = cells.lo[across]; i < cells.hi[across]; i += kLanes) {
            const int n = std::min(kLanes, cells.hi[across] - i);
            at[third] = other, at[across] = i, at[axis] = way > 0 ? low : high - 1;
            start(at, n);
            for (int done = 0; done < length; done += kLanes) {
                const int count = std::min(kLanes, length - done);
                at[axis] = way > 0 ? low + done : high - done - count;
                const LineBlock block{at, axis, count, n};
                begin(block);
                for (int step = 0; step < count; ++step)
                    cell(block, way > 0 ? step : count - 1 - step, done + step == 0,
                         done + step == length - 1);
                end(block);
            }
        }
}

}  // namespace strata::flow
