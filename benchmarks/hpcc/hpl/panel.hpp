// A block of columns of the matrix and its factorization into L and U with partial pivoting.
#pragma once

#include <cstddef>
#include <span>

#include "benchmarks/common/blas.hpp"
#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/messages.hpp"
#include "benchmarks/hpcc/hpl/cyclic.hpp"

namespace strata::bench::hpcc::linpack {

/// One process's part of a panel, in one piece of memory that can be sent: the pivots (numbers of rows, as
/// doubles), the block on the diagonal, which all processes of the column have, and this process's rows from
/// the diagonal on. All rows are `block` elements apart.
class Panel {
  public:
    [[nodiscard]] static std::size_t words(long block, long rows) {
        return static_cast<std::size_t>(block + block * block + rows * block);
    }

    explicit Panel(std::span<double> memory) : memory_(memory) {}

    /// Becomes the panel of columns `first` to first + width - 1 of a matrix of n rows.
    void place(long first, long width, long n, const Cyclic& rows);

    [[nodiscard]] long first() const { return first_; }
    [[nodiscard]] long width() const { return width_; }
    [[nodiscard]] long stride() const { return rows_.block; }
    /// Rows of this process from the diagonal on; the first of them is its local row `base`.
    [[nodiscard]] long height() const { return height_; }
    [[nodiscard]] long base() const { return base_; }
    /// Whether this process has the rows of the block on the diagonal.
    [[nodiscard]] bool has_diagonal() const { return rows_.owner(first_) == rows_.mine; }
    /// The first row here that takes part in the elimination when `columns` of the panel are done.
    [[nodiscard]] long active(long columns) const { return has_diagonal() ? columns : 0; }
    [[nodiscard]] const Cyclic& rows() const { return rows_; }

    [[nodiscard]] std::span<double> pivots() const { return memory_.first(static_cast<std::size_t>(width_)); }
    /// Of the block on the diagonal, factored: U and, below the diagonal, L.
    [[nodiscard]] double* top(long i) const { return memory_.data() + (1 + i) * rows_.block; }
    [[nodiscard]] double* row(long r) const { return top(rows_.block + r); }
    /// All that other processes of this row need.
    [[nodiscard]] std::span<double> message() const { return memory_.first(words(rows_.block, height_)); }

  private:
    std::span<double> memory_;
    Cyclic rows_;
    long first_ = 0, width_ = 0, height_ = 0, base_ = 0;
};

/// Factors panels, all processes of a column of the grid together. By halves of columns (S. Toledo, Locality
/// of reference in LU decomposition with partial pivoting, SIAM J. Matrix Anal. Appl. 18, 1997), so that most
/// of the work is matrix multiplication; the last few columns in registers, row by row.
class PanelFactorization {
  public:
    PanelFactorization(const Blas& blas, const Grid& grid, Messages& messages, long block, long most_rows);

    void factor(Panel& panel) { halves(panel, 0, panel.width()); }

  private:
    /// The largest element of a column among the rows of one process, and where it is.
    struct Pivot {
        double size = -1;
        long row = 0;  // of the panel, here
    };

    void halves(Panel& panel, long begin, long end);
    void narrow(Panel& panel, long begin, long end);
    /// Chooses the pivot of a column among all processes, and interchanges the two rows.
    void interchange(Panel& panel, long column, const Pivot& mine);
    void interchange_among_processes(Panel& panel, long column, const Pivot& mine);
    void read_row(const Panel& panel, long row, double* to) const;
    void write_row(const Panel& panel, long row, const double* from);
    void choose_pivot_row(int root);
    void broadcast(int root);

    const Blas& blas_;
    Grid grid_;
    Messages& messages_;
    long block_;
    Array<double> strip_;  // the columns begin_ to end_ of all rows, eight elements a row
    long begin_ = 0, end_ = 0;
    std::span<double> found_;  // size, row, contents: of the best pivot known here
    std::span<double> other_;  // the same of another process
    std::span<double>
        chosen_;  // row, contents of the pivot's row, contents of the row that it takes the place of
};

}  // namespace strata::bench::hpcc::linpack
