// Matrix products by the BLAS of this machine. Entries are integers, so that every order of additions has the
// same, exact result, and row and column sums of the product (Huang and Abraham 1984) are exact too.
#pragma once

#include <cstdint>
#include <span>

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

inline constexpr std::size_t kRows = 256;
inline constexpr std::size_t kDgemmBytes = (3 * kRows * kRows + 4 * kRows) * sizeof(double);

/// Whether the sums of C = A B are what A and B say. Differences go to the trace: step is the row, or kRows
/// and the column. `room` holds 4 rows.
void check_sums(std::span<const double> a, std::span<const double> b, std::span<const double> c,
                std::span<double> room, Trace& trace);

std::string dgemm_missing();
bool dgemm(const Round& round, Trace& trace);
bool dgemm_reference(const Round& round, Trace& trace);
std::string dgemm_place(int step);

}  // namespace strata::integrity
