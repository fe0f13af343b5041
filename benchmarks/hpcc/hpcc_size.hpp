// How long HPCC makes STREAM's vectors: together they are as large as the matrix of its HPL.
#pragma once

#include <cstdint>

namespace strata::bench::hpcc {

/// The order of the matrix that HPCC 1.5 gives HPL where nobody says one: N^2 doubles in 80 % of the memory
/// of all processes together, and N a multiple of 2 x 80, the block size, as PTRANS has half of it.
[[nodiscard]] std::uint64_t hpl_order(std::uint64_t memory);

/// Elements of each of the three vectors of a process: N^2 / (3 processes), at most 2^30, which is as much as
/// HPCC's counter, a C int, holds as a power of two.
[[nodiscard]] std::uint64_t hpcc_vector(std::uint64_t order, std::uint64_t processes);

}  // namespace strata::bench::hpcc
