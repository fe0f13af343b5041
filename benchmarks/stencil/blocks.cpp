#include "benchmarks/stencil/blocks.hpp"

#include <limits>

namespace strata::bench::stencil {

Triple best_grid(int processes) {
    Triple best{};
    int fewest = std::numeric_limits<int>::max();
    for (int x = 1; x <= processes; ++x) {
        if (processes % x != 0) continue;
        for (int y = x; y <= processes / x; ++y) {
            const int z = processes / x / y;
            if (z < y || x * y * z != processes) continue;
            if (x + y + z < fewest) {  // (x - 1) + (y - 1) + (z - 1) cuts through the whole cube
                fewest = x + y + z;
                best = {z, y, x};
            }
        }
    }
    return best;
}

Block block_of(int n, const Triple& grid, int rank) {
    const Triple at = {rank / (grid[kX] * grid[kY]), rank / grid[kX] % grid[kY], rank % grid[kX]};
    const Triple stride = {grid[kX] * grid[kY], grid[kX], 1};
    Block block{};
    for (const Direction d : {kZ, kY, kX}) {
        block.cells[d] = part(n, grid[d], at[d]);
        block.neighbours[d] = {at[d] > 0 ? rank - stride[d] : -1,
                               at[d] + 1 < grid[d] ? rank + stride[d] : -1};
    }
    return block;
}

}  // namespace strata::bench::stencil
