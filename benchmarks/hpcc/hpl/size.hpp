// How much memory a run takes, and how large a system memory allows.
#pragma once

#include "benchmarks/hpcc/hpl/equations.hpp"

namespace strata::bench::hpcc::linpack {

/// HPC Challenge's advice for a full run: the matrix takes four fifths of the memory.
inline constexpr double kShareOfMemory = 0.8;
/// What a run may take of the memory that is available; a machine driven to its last page measures its page
/// reclaim.
inline constexpr double kMostOfMemory = 0.9;

/// Bytes that the process of this shape's grid takes at most.
[[nodiscard]] double bytes_of(const Shape& shape);

/// Of any process of the grid.
[[nodiscard]] double most_bytes_of(Shape shape);

/// The order whose matrix takes four fifths of so many bytes a process, in whole blocks; less where buffers
/// would not fit beside it.
[[nodiscard]] long full_order(Shape shape, double available);

}  // namespace strata::bench::hpcc::linpack
