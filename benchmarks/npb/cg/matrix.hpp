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

/// A block by compressed rows: row i of the block has the elements start[i] to start[i + 1] - 1, by ascending
/// column; columns count from the block's first. They take two bytes each where the block has at most 2^16 of
/// them (`narrow`), else four (`wide`).
struct Sparse {
    Block block;
    std::span<std::int64_t> start;
    std::span<std::uint16_t> narrow;
    std::span<std::uint32_t> wide;
    std::span<double> value;
};

/// A block as strips of columns side by side: so many that their columns take two bytes, unless their rows
/// would then become too short to be worth it.
using Matrix = std::vector<Sparse>;

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

/// How many strips a block is made of; 1 with columns of four bytes, or those of two.
[[nodiscard]] std::int64_t strips_of(const Problem& problem, std::int64_t columns);

/// Elements that a whole matrix has room for, an upper bound: duplicates are not yet added up.
[[nodiscard]] std::uint64_t most_elements(const Problem& problem);

}  // namespace strata::npb::cg
