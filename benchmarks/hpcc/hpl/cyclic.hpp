// Which process has which rows and columns: the two-dimensional block-cyclic distribution.
#pragma once

namespace strata::bench::hpcc::linpack {

/// One dimension, dealt in blocks to `parts` processes in turn, as process `mine` of them sees it.
struct Cyclic {
    long block = 1;
    int parts = 1, mine = 0;

    [[nodiscard]] constexpr int owner(long index) const { return static_cast<int>(index / block % parts); }
    /// The place of an index among those of its owner.
    [[nodiscard]] constexpr long local(long index) const {
        return index / block / parts * block + index % block;
    }
    /// The index of this process's place.
    [[nodiscard]] constexpr long global(long place) const {
        return (place / block * parts + mine) * block + place % block;
    }
    /// How many of the indices below this one are this process's: the place of its first one from there on.
    [[nodiscard]] constexpr long before(long index) const {
        const long blocks = index / block, turn = blocks % parts;
        return blocks / parts * block + (mine < turn ? block : mine == turn ? index % block : 0);
    }
};

/// The processes in rows and columns, counted along the rows, and this one's place.
struct Grid {
    int rows = 1, columns = 1, row = 0, column = 0;

    [[nodiscard]] static constexpr Grid of(int rows, int columns, int rank) {
        return {rows, columns, rank / columns, rank % columns};
    }
    [[nodiscard]] constexpr int rank(int of_row, int of_column) const { return of_row * columns + of_column; }
};

}  // namespace strata::bench::hpcc::linpack
