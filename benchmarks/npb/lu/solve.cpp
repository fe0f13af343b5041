#include "benchmarks/npb/lu/solve.hpp"

#include <algorithm>

namespace strata::npb::lu {

using flow::Index;

Solve::Solve(const flow::Cell& cell, int blocks, double dt, Break fault, Group& group,
             const std::string& name)
    : tile_(cell.tile), rows_(cell, dt, fault), blocks_(blocks) {
    const std::int64_t width = flow::round_up(tile_.size[0]);
    const auto rows = static_cast<std::size_t>(tile_.size[1]) * kComponents;
    plane_ = group.array<double>("plane before" + name, rows * static_cast<std::size_t>(width));
    behind_ = {plane_.data(), width, width * kComponents, 0};
    handed_ = group.array<double>("rows handed on" + name,
                                  static_cast<std::size_t>(blocks_ + 1) * 2 * row_doubles());
    west_ = group.array<double>("column that comes" + name, rows);
    east_ = group.array<double>("column that goes" + name, rows);
}

std::uint64_t Solve::bytes(const Index& size, int blocks) {
    const auto rows = static_cast<std::uint64_t>(size[1] * kComponents);
    const auto handed = static_cast<std::uint64_t>((blocks + 1) * 2 * kComponents * RowSolve::pitch(size));
    return (handed + rows * static_cast<std::uint64_t>(flow::round_up(size[0]) + 2)) * sizeof(double);
}

std::size_t Solve::row_doubles() const {
    return static_cast<std::size_t>(kComponents * RowSolve::pitch(tile_.size));
}

std::span<double> Solve::handed(int block, std::int64_t step) {
    return handed_.subspan(static_cast<std::size_t>(2 * block + step % 2) * row_doubles(), row_doubles());
}

void Solve::clear(int worker, int workers, bool edge) {
    const Share part(std::ssize(plane_), worker, workers);
    std::fill(plane_.begin() + part.begin, plane_.begin() + part.end, 0.0);
    if (worker == 0 && edge)
        for (const int parity : {0, 1}) std::ranges::fill(handed(0, parity), 0.0);
}

template <int Way>
void Solve::plane(std::int64_t nth, int block, std::int64_t step, double* scratch) {
    const std::int64_t z = Way > 0 ? tile_.first(2) + nth : tile_.last(2) - 1 - nth;
    // Blocks are counted in the order of the sweep, rows are divided alike both ways.
    const Share own(rows_.eights(), Way > 0 ? block : blocks_ - 1 - block, blocks_);
    const auto row = [&](int of, std::int64_t at) -> Contributions::Row {
        return {handed(of, at).data() + RowSolve::kMargin, RowSolve::pitch(tile_.size)};
    };
    rows_.eights<Way>(z, own.begin, own.end,
                      {row(block, step + 1), row(block + 1, step), behind_, behind_, west_, east_}, scratch);
}

template void Solve::plane<1>(std::int64_t, int, std::int64_t, double*);
template void Solve::plane<-1>(std::int64_t, int, std::int64_t, double*);

}  // namespace strata::npb::lu
