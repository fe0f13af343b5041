// The system A x = b of random numbers, as one process holds it.
#pragma once

#include <cstdint>
#include <span>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/group.hpp"
#include "benchmarks/hpcc/hpl/cyclic.hpp"

namespace strata::bench::hpcc::linpack {

/// What a run is about: the order n, the blocks it is dealt in, and the processes.
struct Shape {
    long n = 0, block = 1;
    Grid grid;

    [[nodiscard]] Cyclic rows() const { return {block, grid.rows, grid.row}; }
    /// Of the matrix [A b]: b is its last column.
    [[nodiscard]] Cyclic columns() const { return {block, grid.columns, grid.column}; }
    [[nodiscard]] long own_rows() const { return rows().before(n); }
    [[nodiscard]] long own_columns() const { return columns().before(n + 1); }
    /// From one row of the local matrix to the next. An odd number of cache lines: rows a power of two apart
    /// would meet in the same sets of the caches.
    [[nodiscard]] long stride() const { return ((own_columns() + 7) / 8 | 1) * 8; }
};

/// Element (i, j) of [A b]: uniform in [-1/2, 1/2), from its place alone, so that any process can make any.
/// b is the column of this number, whatever n is.
inline constexpr long kRightSide = (1L << 32) - 1;
[[nodiscard]] double element(long i, long j);

/// The local part of [A b], row by row, touched first by the threads.
class Equations {
  public:
    explicit Equations(const Shape& shape);

    [[nodiscard]] const Shape& shape() const { return shape_; }
    [[nodiscard]] long stride() const { return stride_; }
    [[nodiscard]] double* row(long local) { return a_.data() + local * stride_; }
    [[nodiscard]] const double* row(long local) const { return a_.data() + local * stride_; }

  private:
    Shape shape_;
    long stride_;
    Array<double> a_;
};

/// |A x - b| / (eps (|A| |x| + |b|) n) in the infinity norm, with A and b made once more: HPL's measure of a
/// solution. All processes have x and get the same.
[[nodiscard]] double scaled_residual(Group& group, const Shape& shape, std::span<const double> x);

}  // namespace strata::bench::hpcc::linpack
