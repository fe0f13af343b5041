// The order in which kernels go through a patch, and what they ask memory for on the way.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>

#include "core/graph/declare/view.hpp"
#include "core/graph/kernels/rows.hpp"

namespace strata::graph::kernels {

/// Part of a patch: so many cells of so many rows, through all planes.
struct Column {
    int first_cell, end_cell, first_row, end_row;

    [[nodiscard]] int cells() const { return end_cell - first_cell; }
};

/// A patch cut into columns. A kernel goes through one plane by plane: the planes that it needs (three of 256
/// cells with one layer around, five of 128 with two: some 12 kB with what is around) stay in the first-level
/// cache, so each value comes there once. Rows of the whole patch would be gone before the next plane needs
/// them again, and fetching them anew takes the place of fetching from memory. Planes are normal to z, of
/// rows that follow each other in y; or, where z is not there, normal to y, of one row.
template <std::size_t kNormal>
class Columns {
  public:
    static constexpr std::size_t normal = kNormal, across = 3 - kNormal;

    /// `layers`: around a cell, in front of it and behind it, of what is read most.
    Columns(const Box& cells, int layers)
        : cells_(cells),
          plane_cells_(layers > 2 ? 128 : 256),
          width_(shared_out(cells.extent(0), plane_cells_ / std::clamp(cells.extent(across), 1, 4), kLanes)),
          height_(shared_out(cells.extent(across), plane_cells_ / std::min(width_, plane_cells_), 1)),
          to_the_right_(parts(cells.extent(0), width_)) {}

    [[nodiscard]] int first_plane() const { return cells_.lo[normal]; }
    [[nodiscard]] int end_plane() const { return cells_.hi[normal]; }
    [[nodiscard]] int count() const { return to_the_right_ * parts(cells_.extent(across), height_); }
    [[nodiscard]] Column operator[](int index) const {
        const int cell = cells_.lo[0] + index % to_the_right_ * width_;
        const int row = cells_.lo[across] + index / to_the_right_ * height_;
        return {cell, std::min(cell + width_, cells_.hi[0]), row, std::min(row + height_, cells_.hi[across])};
    }
    /// Which one a thread goes on with. After the last it is the first one of the patch to the right, since a
    /// thread's patches follow each other along x; no more than a guess, so good for asking only.
    [[nodiscard]] Column after(int index) const {
        if (index + 1 < count()) return (*this)[index + 1];
        Column first = (*this)[0];
        first.first_cell += cells_.extent(0), first.end_cell += cells_.extent(0);
        return first;
    }

  private:
    static int parts(int extent, int size) { return (extent + size - 1) / size; }
    /// At most `most` in each part, about as many in each, in multiples of `unit`.
    static int shared_out(int extent, int most, int unit) {
        const int count = std::max(1, parts(extent, std::max(most, unit)));
        return std::max(1, parts(parts(extent, count), unit)) * unit;
    }

    Box cells_;
    int plane_cells_, width_, height_, to_the_right_;
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
    [[gnu::always_inline]] [[nodiscard]] Lines begin_plane(const Column& here, const Column& then,
                                                           int plane) const {
        plane += reads_.behind[Columns::normal];
        Lines first{at(here, then, plane + kNear), at(here, then, plane + kFar)};
        for (int row = 1; row <= reads_.before[Columns::across]; ++row)
            ask_row({first.near - row * to_row_, first.far - row * to_row_}, here);
        return first;
    }
    /// With the next row. Asks for what lies to its left and right.
    [[gnu::always_inline]] [[nodiscard]] Lines next_row(const Lines& lines, const Column& here) const {
        if (reads_.before[0] > 0) __builtin_prefetch(lines.far - reads_.before[0], 0, 2);
        if (reads_.behind[0] > 0) __builtin_prefetch(lines.far + (here.cells() + reads_.behind[0] - 1), 0, 2);
        return {lines.near + to_row_, lines.far + to_row_};
    }
    /// Asks for what lies behind the column: `lines` as for the row after the last one.
    [[gnu::always_inline]] void end_plane(const Lines& lines, const Column& here) const {
        for (int row = 0; row < reads_.behind[Columns::across]; ++row)
            ask_row({lines.near + row * to_row_, lines.far + row * to_row_}, here);
    }

  private:
    static constexpr int kNear = 1, kFar = 3;  // planes

    /// After the last plane come those of the column to come.
    [[gnu::always_inline]] [[nodiscard]] const double* at(const Column& here, const Column& then,
                                                          int plane) const {
        const bool beyond = plane >= end_plane_;
        const Column& column = beyond ? then : here;
        if (beyond) plane += first_plane_ - end_plane_;
        return reads_.values.origin() + column.first_cell + column.first_row * to_row_ + plane * to_plane_;
    }
    [[gnu::always_inline]] static void ask_row(const Lines& lines, const Column& here) {
        for (int i = 0; i < here.cells(); i += kLanes) lines.ask(i);
    }

    Reads reads_;
    std::ptrdiff_t to_row_, to_plane_;
    int first_plane_, end_plane_;
};

/// The same where a kernel goes through a patch row by row: rows that are long enough bring themselves into
/// the second-level cache.
class FetchRows {
  public:
    FetchRows(const Box& cells, const Reads& reads)
        : reads_(reads), cells_(cells), rows_(std::max(1, kBytes / (8 * std::max(cells.extent(0), 1)))) {}
    /// What is to be asked for with row (j, k): lies so many rows behind the last one that it needs. Asks for
    /// what lies to its left and right.
    [[gnu::always_inline]] [[nodiscard]] NearLines row(int j, int k) const {
        const int first = cells_.lo[1] - reads_.before[1], end = cells_.hi[1] + reads_.behind[1];
        j += reads_.behind[1] + rows_, k += reads_.behind[2];
        for (; j >= end; j -= end - first) ++k;
        k = std::min(k, cells_.hi[2] + reads_.behind[2] - 1);
        const double* const at =
            reads_.values.origin() + cells_.lo[0] + j * reads_.values.stride(1) + k * reads_.values.stride(2);
        if (reads_.before[0] > 0) __builtin_prefetch(at - reads_.before[0]);
        if (reads_.behind[0] > 0) __builtin_prefetch(at + (cells_.extent(0) + reads_.behind[0] - 1));
        return {at};
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
Summary sweep_columns(const Box& cells, const std::array<Reads, kFields>& reads, int layers,
                      const FieldView<double>& view, Stores stores, const Kernel& given) {
    using Parts = Columns<kNormal>;
    // Copies that nobody has the address of, and a summary that is not yet the caller's: else each row would
    // load all of it anew, as stores might have changed it.
    const FieldView<double> next = view;
    const Kernel kernel = given;
    Summary summary;
    const Parts columns(cells, layers);
    const auto fetch = std::apply(
        [&](const auto&... field) {
            return std::array<FetchAhead<Parts>, kFields>{FetchAhead<Parts>(columns, field)...};
        },
        reads);
    const Box reach = next.box();
    for (int c = 0; c < columns.count(); ++c) {
        const Column here = columns[c], then = columns.after(c);
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
    const Summary result = summary;
    return result;
}

template <std::size_t kFields, class Kernel>
Summary sweep_rows(const Box& cells, const std::array<Reads, kFields>& reads, const FieldView<double>& view,
                   Stores stores, const Kernel& given) {
    const FieldView<double> next = view;  // copies, as above
    const Kernel kernel = given;
    Summary summary;
    const auto fetch = std::apply(
        [&](const auto&... field) { return std::array<FetchRows, kFields>{FetchRows(cells, field)...}; },
        reads);
    const Box reach = next.box();
    const Piece piece{cells.extent(0), cells.lo[0] - reach.lo[0], reach.hi[0] - cells.hi[0]};
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
            const Int3 at{cells.lo[0], j, k};
            std::array<NearLines, kFields> ahead;
            for (std::size_t f = 0; f < kFields; ++f) ahead[f] = fetch[f].row(j, k);
            ask_to_write(next, at, 1, piece);
            summary = write_row(summary, next.row(j, k) + at[0], piece, stores, ahead, kernel(at));
        }
    if (stores == Stores::past_caches) settle_stores();
    const Summary result = summary;
    return result;
}

/// next = value(at) in each of `cells`, and in the layers beyond walls along x that `next` has, where at(row)
/// is a cell's value in that row: kernel({i, j, k}) gives `value` for the piece of row (j, k) that begins
/// with cell i. `reads` is what it needs; it is asked for ahead where it comes from memory.
template <std::size_t kFields, class Kernel>
Summary sweep(const Box& cells, const std::array<Reads, kFields>& reads, const FieldView<double>& next,
              Stores stores, const Kernel& kernel) {
    // Of many fields columns bring each in short pieces, which pays where rows are no longer themselves. (The
    // same order on every machine, whatever it stores past its caches: the sum's bits follow the order.)
    constexpr int kLongRow = 256;
    int layers = 0;
    for (const Reads& each : reads) layers = std::max(layers, each.before[0] + each.behind[0]);
    const auto go = [&](const auto& asked) {
        if (kFields > 1 && cells.extent(0) >= kLongRow) return sweep_rows(cells, asked, next, stores, kernel);
        return cells.extent(2) > 1 ? sweep_columns<2>(cells, asked, layers, next, stores, kernel)
                                   : sweep_columns<1>(cells, asked, layers, next, stores, kernel);
    };
    return stores == Stores::past_caches ? go(reads) : go(std::array<Reads, 0>{});
}

}  // namespace strata::graph::kernels
