#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/npb/cg/cg.hpp"
#include "benchmarks/npb/common/group.hpp"

namespace strata::npb::cg {

/// Rows [row_begin, row_end) and columns [column_begin, column_end) of the matrix.
struct Block {
    std::int64_t row_begin = 0, row_end = 0, column_begin = 0, column_end = 0;
    [[nodiscard]] std::int64_t rows() const { return row_end - row_begin; }
    [[nodiscard]] std::int64_t columns() const { return column_end - column_begin; }
};

/// Rows that are multiplied together, one in each lane of a vector.
inline constexpr std::int64_t kTogether = 8;

/// Columns side by side of a block, as "sliced ELLPACK" (Kreutzer et al., SIAM J. Sci. Comput. 36, 2014,
/// C401, SELL-C-sigma): each worker's rows by falling length, in chunks of eight that are filled up with
/// zeros to the longest of them. Elements start[c] to start[c + 1] - 1 are chunk c: the first of each of its
/// rows, the second of each, ..., by ascending column. Columns count from the strip's first; they take two
/// bytes each where the strip has at most 2^16 of them (`narrow`), else four (`wide`).
struct Strip {
    std::int64_t column_begin = 0, columns = 0;  // of the block
    std::span<std::int64_t> start;               // of chunks
    std::span<std::uint32_t> row;                // of the block, eight a chunk
    std::span<std::uint16_t> narrow;
    std::span<std::uint32_t> wide;
    std::span<double> value;
};

/// A block as strips, each so narrow that its part of the vector stays in the first-level cache, unless its
/// rows would become too short to be worth it.
struct Matrix {
    Block block;
    std::vector<std::int64_t> chunks;  // of worker w: chunks[w] to chunks[w + 1] - 1, in every strip
    std::vector<Strip> strips;
};

/// The random sparse vectors x_i of which the matrix is made (section 2.2.3, and docs/npb.md for what it
/// leaves open): row i of `column` and `value` has count[i] elements, of room for nonzer + 1.
struct Vectors {
    int room = 0;
    std::span<std::int32_t> count;
    std::span<std::uint32_t> column;
    std::span<double> value;
    std::span<double> weight;  // omega^i, omega = 0.1^(1/n)
};

/// Writes all n vectors; one worker does it, as each number follows from those before it.
void make_vectors(const Problem& problem, Vectors& vectors);

/// The block of A = sum_i omega^i x_i x_i^T + (0.1 - shift) I.
[[nodiscard]] Matrix make_matrix(const Problem& problem, const Block& block, Group& group);

/// Columns of each strip but the last, of a block with so many: a power of two.
[[nodiscard]] std::int64_t strip_columns(const Problem& problem, std::int64_t columns);

/// Elements that a whole matrix has room for, an upper bound: duplicates are not yet added up.
[[nodiscard]] std::uint64_t most_elements(const Problem& problem);

}  // namespace strata::npb::cg
