// The order in which kernels go through a patch, and what they ask memory for on the way.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>

#include "core/graph/declare/view.hpp"
#include "solvers/transport/rows.hpp"

namespace strata::transport {

/// Part of a patch: so many cells of so many rows, through all planes.
struct Column {
    int first_cell, end_cell, first_row, end_row;

    [[nodiscard]] int cells() const { return end_cell - first_cell; }
};

/// A patch cut into columns of some 256 cells a plane. A kernel goes through one plane by plane: the planes
/// that it needs (three with one layer around, 12 kB) stay in the first-level cache, so each value comes
/// there once. Rows of the whole patch would be gone before the next plane needs them again, and fetching
/// them anew takes the place of fetching from memory. Planes are normal to z, of rows that follow each other
/// in y; or, where z is not there, normal to y, of one row.
template <std::size_t kNormal>
class Columns {
  public:
    static constexpr std::size_t normal = kNormal, across = 3 - kNormal;

    explicit Columns(const Box& cells)
        : cells_(cells),
          width_(shared_out(cells.extent(0), kPlaneCells / std::clamp(cells.extent(across), 1, 4), kLanes)),
          height_(shared_out(cells.extent(across), kPlaneCells / std::min(width_, kPlaneCells), 1)),
          to_the_right_(parts(cells.extent(0), width_)) {}

    [[nodiscard]] int first_plane() const { return cells_.lo[normal]; }
    [[nodiscard]] int end_plane() const { return cells_.hi[normal]; }
    [[nodiscard]] int count() const { return to_the_right_ * parts(cells_.extent(across), height_); }
    [[nodiscard]] Column operator[](int index) const {
        const int cell = cells_.lo[0] + index % to_the_right_ * width_;
        const int row = cells_.lo[across] + index / to_the_right_ * height_;
        return {cell, std::min(cell + width_, cells_.hi[0]), row, std::min(row + height_, cells_.hi[across])};
    }

  private:
    static constexpr int kPlaneCells = 256;
    static int parts(int extent, int size) { return (extent + size - 1) / size; }
    /// At most `most` in each part, about as many in each, in multiples of `unit`.
    static int shared_out(int extent, int most, int unit) {
        const int count = std::max(1, parts(extent, std::max(most, unit)));
        return std::max(1, parts(parts(extent, count), unit)) * unit;
    }

    Box cells_;
    int width_, height_, to_the_right_;
};

/// A field that a kernel reads, and how many layers around a cell.
struct Reads {
    FieldView<const double> values;
    Int3 before{}, behind{};
};

/// Asks for values before a kernel comes to them: those of the next plane into the first-level cache, those
/// two planes further into the second-level one. (Processors fetch ahead along rows by themselves, but each
/// row begins anew and they begin late; and few lines can be on their way to the first level at a time.)
template <class Columns>
class FetchAhead {
  public:
    FetchAhead(const Columns& columns, const Reads& reads)
        : reads_(reads),
          to_row_(reads.values.stride(Columns::across)),
          to_plane_(reads.values.stride(Columns::normal)),
          first_plane_(columns.first_plane() - reads.before[Columns::normal]),
          end_plane_(columns.end_plane() + reads.behind[Columns::normal]) {}

    /// What is to be asked for with the first row of a plane. Asks for what lies before the column. (Inlined:
    /// GCC drops calls of functions that do nothing but ask.)
    [[gnu::always_inline]] [[nodiscard]] Lines begin_plane(const Column& here, const Column* then,
                                                           int plane) const {
        plane += reads_.behind[Columns::normal];
        Lines first{at(here, then, plane + kNear), at(here, then, plane + kFar)};
        for (int row = 1; row <= reads_.before[Columns::across]; ++row)
            ask_row({first.near - row * to_row_, first.far - row * to_row_}, here);
        return first;
    }
    /// With the next row. Asks for what lies to its left and right.
    [[gnu::always_inline]] [[nodiscard]] Lines next_row(const Lines& lines, const Column& here) const {
        if (reads_.before[0] > 0) __builtin_prefetch(lines.near - reads_.before[0]);
        if (reads_.behind[0] > 0) __builtin_prefetch(lines.near + (here.cells() + reads_.behind[0] - 1));
        return {lines.near + to_row_, lines.far + to_row_};
    }
    /// Asks for what lies behind the column: `lines` as for the row after the last one.
    [[gnu::always_inline]] void end_plane(const Lines& lines, const Column& here) const {
        for (int row = 0; row < reads_.behind[Columns::across]; ++row)
            ask_row({lines.near + row * to_row_, lines.far + row * to_row_}, here);
    }

  private:
    static constexpr int kNear = 1, kFar = 3;  // planes

    /// After the last plane come those of the column to come, if there is one.
    [[gnu::always_inline]] [[nodiscard]] const double* at(const Column& here, const Column* then,
                                                          int plane) const {
        const bool beyond = then != nullptr && plane >= end_plane_;
        const Column& column = beyond ? *then : here;
        plane = beyond ? plane - end_plane_ + first_plane_ : std::min(plane, end_plane_ - 1);
        return reads_.values.origin() + column.first_cell + column.first_row * to_row_ + plane * to_plane_;
    }
    [[gnu::always_inline]] static void ask_row(const Lines& lines, const Column& here) {
        for (int i = 0; i < here.cells(); i += kLanes) lines.ask(i);
    }

    Reads reads_;
    std::ptrdiff_t to_row_, to_plane_;
    int first_plane_, end_plane_;
};

/// Which row of a patch to ask for while another one is worked on, where a kernel goes through them row by
/// row.
class FetchRows {
  public:
    FetchRows(const Box& cells, const Reads& reads)
        : reads_(reads), cells_(cells), rows_(std::max(1, kBytes / (8 * std::max(cells.extent(0), 1)))) {}
    /// For row (j, k): lies so many rows behind the last one that it needs.
    [[nodiscard]] NearLines row(int j, int k) const {
        const int first = cells_.lo[1] - reads_.before[1], end = cells_.hi[1] + reads_.behind[1];
        j += reads_.behind[1] + rows_, k += reads_.behind[2];
        for (; j >= end; j -= end - first) ++k;
        k = std::min(k, cells_.hi[2] + reads_.behind[2] - 1);
        return {pointer_to(reads_.values.row(j, k) + cells_.lo[0], cells_.extent(0))};
    }

  private:
    static constexpr int kBytes = 4 << 10;  // on their way at a time
    Reads reads_;
    Box cells_;
    int rows_;
};

/// For the layers beyond walls of the next row or plane, along axis `normal`. (A store that has to wait for
/// its line holds up those behind it.)
[[gnu::always_inline]] inline void ask_to_write(const FieldView<double>& values, const Int3& at, int normal,
                                                const Piece& piece) {
    const double* const next =
        values.origin() + at[0] + at[1] * values.stride(1) + at[2] * values.stride(2) + values.stride(normal);
    if (piece.before > 0) __builtin_prefetch(next - 1, 1);
    if (piece.behind > 0) __builtin_prefetch(next + piece.cells, 1);
}

template <std::size_t kNormal, std::size_t kFields, class Kernel>
Summary sweep_columns(const Box& cells, const std::array<Reads, kFields>& reads,
                      const FieldView<double>& next, Stores stores, Kernel kernel) {
    using Parts = Columns<kNormal>;
    Summary summary;
    const Parts columns(cells);
    const auto fetch = std::apply(
        [&](const auto&... field) {
            return std::array<FetchAhead<Parts>, kFields>{FetchAhead<Parts>(columns, field)...};
        },
        reads);
    const Box reach = next.box();
    for (int c = 0; c < columns.count(); ++c) {
        const Column here = columns[c], next_one = columns[c + 1];
        const Column* const then = c + 1 < columns.count() ? &next_one : nullptr;
        const Piece piece{here.cells(), here.first_cell == cells.lo[0] ? cells.lo[0] - reach.lo[0] : 0,
                          here.end_cell == cells.hi[0] ? reach.hi[0] - cells.hi[0] : 0};
        for (int plane = columns.first_plane(); plane < columns.end_plane(); ++plane) {
            std::array<Lines, kFields> ahead;
            for (std::size_t f = 0; f < kFields; ++f) ahead[f] = fetch[f].begin_plane(here, then, plane);
            for (int row = here.first_row; row < here.end_row; ++row) {
                const std::array<Lines, kFields> lines = ahead;
                for (std::size_t f = 0; f < kFields; ++f) ahead[f] = fetch[f].next_row(lines[f], here);
                Int3 at{here.first_cell};
                at[Parts::across] = row, at[Parts::normal] = plane;
                const Row<double> out = next.row(at[1], at[2]) + at[0];
                ask_to_write(next, at, Parts::normal, piece);
                summary = write_row(summary, out, piece, stores, lines, kernel(at));
            }
            for (std::size_t f = 0; f < kFields; ++f) fetch[f].end_plane(ahead[f], here);
        }
    }
    if (stores == Stores::past_caches) settle_stores();
    return summary;
}

/// next = value(at) in each of `cells`, and in the layers beyond walls along x that `next` has, where at(row)
/// is a cell's value in that row: kernel({i, j, k}) gives `value` for the piece of row (j, k) that begins
/// with cell i. `reads` is what it needs; it is asked for ahead where it comes from memory.
template <std::size_t kFields, class Kernel>
Summary sweep_in_columns(const Box& cells, const std::array<Reads, kFields>& reads,
                         const FieldView<double>& next, Stores stores, Kernel kernel) {
    const auto with = [&](const auto& asked) {
        return cells.extent(2) > 1 ? sweep_columns<2>(cells, asked, next, stores, kernel)
                                   : sweep_columns<1>(cells, asked, next, stores, kernel);
    };
    return stores == Stores::past_caches ? with(reads) : with(std::array<Reads, 0>{});
}

/// Row after row of the patch, where a kernel reads many fields of which only one is needed in several rows:
/// columns would bring each of them in short pieces.
template <std::size_t kFields, class Kernel>
Summary sweep_in_rows(const Box& cells, const std::array<Reads, kFields>& reads,
                      const FieldView<double>& next, Stores stores, Kernel kernel) {
    Summary summary;
    const auto fetch =
        std::apply([&](const auto&... field) { return std::array{FetchRows(cells, field)...}; }, reads);
    const Box reach = next.box();
    const Piece piece{cells.extent(0), cells.lo[0] - reach.lo[0], reach.hi[0] - cells.hi[0]};
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
            const Int3 at{cells.lo[0], j, k};
            const Row<double> out = next.row(j, k) + at[0];
            if (stores == Stores::past_caches) {
                std::array<NearLines, kFields> ahead;
                for (std::size_t f = 0; f < kFields; ++f) ahead[f] = fetch[f].row(j, k);
                ask_to_write(next, at, 1, piece);
                summary = write_row(summary, out, piece, stores, ahead, kernel(at));
            } else {
                summary = write_row(summary, out, piece, stores, std::array<NearLines, 0>{}, kernel(at));
            }
        }
    if (stores == Stores::past_caches) settle_stores();
    return summary;
}

}  // namespace strata::transport
