#pragma once

#include <span>
#include <vector>

#include "benchmarks/npb/cg/matrix.hpp"

namespace strata::npb::cg {

/// How the matrix lies over processes: a grid of R x C of them, C = R or 2 R. Process (i, j) has the block of
/// rows part i and columns part j. Vectors are divided as the columns are, so those of one column of
/// processes have the same part; it takes a sum along the row of processes and an exchange with the process
/// across the diagonal to turn the rows' part of A p into the columns' part.
class Division {
  public:
    /// For process `rank` of `processes`, a power of two. Throws Error for other numbers.
    Division(std::int64_t n, int rank, int processes);

    [[nodiscard]] int grid_rows() const { return rows_; }
    [[nodiscard]] int grid_columns() const { return columns_; }
    [[nodiscard]] const Block& block() const { return block_; }
    /// The part of the columns' part whose products this process adds up: each element once over all.
    [[nodiscard]] Share own() const;

    /// `partial` (one number for each row of the block) becomes the sum along the row of processes, and
    /// `result` (one for each column) this process's part of it. Without other processes both are the same
    /// memory, and there is nothing to do.
    void transpose(std::span<double> partial, std::span<double> result, Group& group);

  private:
    [[nodiscard]] std::int64_t column_begin(int j) const;
    std::int64_t n_;
    int rows_ = 1, columns_ = 1, i_ = 0, j_ = 0;
    Block block_;
    std::vector<double> incoming_;
};

}  // namespace strata::npb::cg
