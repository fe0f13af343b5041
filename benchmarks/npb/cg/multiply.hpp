#pragma once

#include "benchmarks/npb/cg/matrix.hpp"

namespace strata::npb::cg {

/// How elements of the vector are fetched: one by one, or eight by an instruction, which is faster on some
/// processors and slower on others. Both add in the same order.
enum class Fetch { single, gather };

/// The way that is faster here for a worker's rows, by trial; y is overwritten.
[[nodiscard]] Fetch faster_fetch(const Matrix& matrix, const double* x, double* y, int worker);

/// y = A x for a worker's rows; x by the block's columns, y by its rows.
void multiply(const Matrix& matrix, const double* x, double* y, int worker, Fetch fetch);

/// The bytes of one multiplication: each element's value and column, what fills up included, the chunks'
/// starts and rows, the results once a strip, the vector once.
[[nodiscard]] double bytes_of_multiply(const Matrix& matrix);

/// The bytes that it must move: each element's value and two bytes of its column, the result and the vector
/// once. (That the matrix is symmetric is not counted: half of it would have to be added by scattered
/// updates.)
[[nodiscard]] double compulsory_bytes_of_multiply(const Matrix& matrix);

}  // namespace strata::npb::cg
