// Rows that change places between the processes of a column, and the rows of U that all of them need.
#pragma once

#include <span>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/messages.hpp"
#include "benchmarks/hpcc/hpl/equations.hpp"
#include "benchmarks/hpcc/hpl/panel.hpp"
#include "benchmarks/hpcc/hpl/row_moves.hpp"

namespace strata::bench::hpcc::linpack {

/// For several rows of processes. The rows that come into the panel's block go round the column, so that each
/// process has all of them; the rows that leave it go from the block's owner straight to where they belong.
class RowExchange {
  public:
    /// Elements of each of its four buffers; none for one row of processes.
    [[nodiscard]] static std::size_t words(const Shape& shape) {
        return shape.grid.rows == 1 ? 0 : static_cast<std::size_t>(shape.block * (shape.own_columns() + 7));
    }
    RowExchange(const Shape& shape, Messages& messages);

    /// Of the local columns from `begin` on, by the panel's pivots.
    void run(Equations& equations, const Panel& panel, long begin);

    /// Row j of what will be U, from column `begin` on; the same on all processes of the column.
    [[nodiscard]] double* u(long j) const { return u_.data() + j * stride(); }
    [[nodiscard]] long stride() const { return (width_ + 7) / 8 * 8; }

  private:
    struct Copy {
        const double* from;
        double* to;
    };
    /// All copies of rows at once, by all threads.
    void copy_rows() const;
    void pack(Equations& equations, const RowMoves& moves, const Panel& panel);
    void move_out(Equations& equations, const RowMoves& moves, const Panel& panel);
    void spread(const RowMoves& moves);
    [[nodiscard]] std::span<double> of(std::span<double> memory, long rows, long count) const {
        return memory.subspan(static_cast<std::size_t>(rows * width_),
                              static_cast<std::size_t>(count * width_));
    }

    Shape shape_;
    Messages& messages_;
    std::vector<Copy> copies_;
    long begin_ = 0, width_ = 0;
    std::vector<long> first_in_, first_out_;  // [process of the column] -> its first row below; one more
    std::span<double> in_, out_, come_;
    Array<double> u_;
};

}  // namespace strata::bench::hpcc::linpack
