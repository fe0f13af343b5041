#pragma once

#include "benchmarks/npb/cg/matrix.hpp"

namespace strata::npb::cg {

/// y = A x for rows [begin, end) of the block; x by the block's columns.
void multiply(const Matrix& matrix, const double* x, double* y, std::int64_t begin, std::int64_t end);

/// The bytes of one multiplication: each element's value and column, the rows' starts and results, the
/// vector once.
[[nodiscard]] double bytes_of_multiply(const Matrix& matrix);

}  // namespace strata::npb::cg
