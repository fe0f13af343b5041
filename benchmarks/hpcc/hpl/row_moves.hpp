// What a panel's interchanges of rows come to, all together.
#pragma once

#include <span>
#include <vector>

namespace strata::bench::hpcc::linpack {

/// Interchange j of a panel swaps row first + j with row pivots[j], which is that row or one below it.
/// Together they bring rows from anywhere into the panel's own rows, and rows of these out: a row below them
/// can only get what one of them had.
struct RowMoves {
    struct Out {
        long to, from;
    };
    std::vector<long> in;  // [j] -> the row whose contents row first + j gets
    std::vector<Out> out;  // rows below, and whose contents each gets
};

[[nodiscard]] RowMoves row_moves(long first, std::span<const double> pivots);

}  // namespace strata::bench::hpcc::linpack
