// A cube of cells dealt over processes in blocks.
#pragma once

#include <array>

namespace strata::bench::stencil {

/// Directions in the order of memory: z moves by planes, y by rows, x by cells.
enum Direction : std::size_t { kZ = 0, kY = 1, kX = 2 };

/// How many of something along z, y and x.
using Triple = std::array<int, 3>;

/// The cells first .. first + count - 1 of an edge.
struct Part {
    int first = 0, count = 0;
};

/// Part `index` of `parts` of an edge of n cells; parts differ by one cell at most.
[[nodiscard]] constexpr Part part(int n, int parts, int index) {
    const auto cut = [=](int i) { return static_cast<int>(static_cast<long>(n) * i / parts); };
    return {cut(index), cut(index + 1) - cut(index)};
}

/// The grid of processes with the fewest faces between blocks of a cube, as MPI_Dims_create aims at; among
/// equals the one that cuts z before y before x, since a face across z is whole planes of memory and one
/// across x single cells.
[[nodiscard]] Triple best_grid(int processes);

/// One process's block of the cube of n^3 cells, and the processes beyond its faces.
struct Block {
    std::array<Part, 3> cells;
    std::array<std::array<int, 2>, 3> neighbours;  // before and after along each direction; -1 is a wall
};
[[nodiscard]] Block block_of(int n, const Triple& grid, int rank);

}  // namespace strata::bench::stencil
