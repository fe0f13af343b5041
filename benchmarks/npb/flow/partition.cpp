#include "benchmarks/npb/flow/partition.hpp"

#include <fmt/format.h>

#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/common/group.hpp"
#include "core/base/error.hpp"

namespace strata::npb::flow {
namespace {

/// P = A B with B = A or B = 2 A; returns A.
std::int64_t smaller_side(int processes) {
    std::int64_t side = 1;
    while (4 * side * side <= power_of_two(processes)) side *= 2;
    return side;
}

}  // namespace

Partition::Partition(const Index& n, const Index& cuts, int rank, bool multi)
    : n_(n), cuts_(cuts), multi_(multi) {
    for (std::int64_t x = 0; x < cuts[0]; ++x)
        for (std::int64_t y = 0; y < cuts[1]; ++y)
            for (std::int64_t z = 0; z < cuts[2]; ++z)
                if (owner({x, y, z}) == rank) cells_.push_back({x, y, z});
}

Partition Partition::multi(const Index& n, int rank, int processes) {
    const std::int64_t a = smaller_side(processes), b = processes / a;
    return {n, {a, b, b}, rank, true};
}

Partition Partition::columns(const Index& n, int rank, int processes) {
    const std::int64_t a = smaller_side(processes), b = processes / a;
    return {n, {a, b, 1}, rank, false};
}

int Partition::owner(const Index& cell) const {
    // Multi-partition: (z + y mod B, y + x mod A). With any one of x, y, z held, the others take each process
    // equally often; and one step along a direction changes it by the same for all cells.
    const std::int64_t a = cuts_[0], b = cuts_[1];
    const auto within = [](std::int64_t value, std::int64_t count) {
        return (value % count + count) % count;
    };
    const std::int64_t x = multi_ ? within(cell[0] + cell[1], a) : within(cell[0], a);
    const std::int64_t y = multi_ ? within(cell[1] + cell[2], b) : within(cell[1], b);
    return static_cast<int>(y * a + x);
}

Tile Partition::tile(const Index& cell) const {
    Tile tile;
    tile.n = n_;
    tile.scale = scale_of(n_);
    for (std::size_t d = 0; d < 3; ++d) {
        const Share share(n_[d], static_cast<int>(cell[d]), static_cast<int>(cuts_[d]));
        tile.begin[d] = share.begin;
        tile.size[d] = share.end - share.begin;
    }
    return tile;
}

std::vector<Tile> Partition::tiles() const {
    std::vector<Tile> tiles;
    for (const Index& cell : cells_) tiles.push_back(tile(cell));
    return tiles;
}

int Partition::neighbour(std::size_t direction, std::int64_t step) const {
    Index cell = cells_.front();
    cell[direction] += step;
    return owner(cell);
}

void Partition::require_room() const {
    for (std::size_t d = 0; d < 3; ++d)
        if (cuts_[d] > 1 && n_[d] / cuts_[d] < 2)
            throw Error("the grid is too small for so many processes")
                .given(fmt::format("{} points in {} parts", n_[d], cuts_[d]))
                .allowed("at least two points in each part")
                .remedy("fewer processes, or a larger class");
}

}  // namespace strata::npb::flow
