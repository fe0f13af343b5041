#include "benchmarks/hpcc/hpl/row_moves.hpp"

#include <map>
#include <utility>

namespace strata::bench::hpcc::linpack {

RowMoves row_moves(long first, std::span<const double> pivots) {
    const long count = static_cast<long>(pivots.size());
    RowMoves moves;
    for (long j = 0; j < count; ++j) moves.in.push_back(first + j);
    std::map<long, long> below;  // row -> whose contents it has
    for (std::size_t j = 0; j < pivots.size(); ++j) {
        const auto pivot = static_cast<long>(pivots[j]);
        if (pivot < first + count) {
            std::swap(moves.in[j], moves.in[static_cast<std::size_t>(pivot - first)]);
        } else {
            std::swap(moves.in[j], below.try_emplace(pivot, pivot).first->second);
        }
    }
    for (const auto& [to, from] : below) moves.out.push_back({to, from});
    return moves;
}

}  // namespace strata::bench::hpcc::linpack
