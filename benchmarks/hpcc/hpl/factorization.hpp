// Gaussian elimination of the whole system, panel by panel, with a look-ahead of one panel.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "benchmarks/common/blas.hpp"
#include "benchmarks/common/messages.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/hpcc/hpl/broadcast.hpp"
#include "benchmarks/hpcc/hpl/equations.hpp"
#include "benchmarks/hpcc/hpl/panel.hpp"
#include "benchmarks/hpcc/hpl/row_exchange.hpp"

namespace strata::bench::hpcc::linpack {

/// Columns of the local matrix that threads take in turn: a part of what is left each time, so that all end
/// together.
class Tiles {
  public:
    struct Tile {
        long begin = 0, end = 0;
        [[nodiscard]] bool empty() const { return begin == end; }
    };
    Tiles(long begin, long end, int threads) : next_(begin), end_(end), threads_(threads) {}
    /// An empty one when none are left.
    [[nodiscard]] Tile take();

  private:
    std::atomic<long> next_;
    long end_;
    int threads_;
};

/// [A b] becomes [U y] with L U = P A and L y = P b. All threads of the process update; the first one alone
/// exchanges messages and factors panels: of the columns that the next panel has it updates its own first,
/// factors them and sends the panel off while the others, and then itself, update the rest.
class Factorization {
  public:
    Factorization(const Blas& blas, Equations& equations, Messages& messages);

    /// Bytes that it takes beside the equations.
    [[nodiscard]] static std::uint64_t bytes(const Shape& shape);

    void run(Progress& progress);

  private:
    /// Puts the panel of the columns from `first` on into its slot.
    void place(int slot, long first);
    /// Factors it, if it is this process's, and sends it off, or begins to receive it.
    void begin_panel(int slot);
    /// All of a step but the panel's own factorization, with that of the next one within.
    void step(int slot);
    void update(const Panel& panel, long begin, Tiles::Tile tile);
    /// The panel's rows of the tile's columns, solved with L: what they are in U.
    [[nodiscard]] const double* rows_of_u(const Panel& panel, long begin, Tiles::Tile tile, long& stride);

    const Blas& blas_;
    Equations& equations_;
    Shape shape_;
    PanelFactorization factorization_;
    PanelBroadcast broadcast_;
    RowExchange exchange_;
    std::array<Panel, 2> panels_;
};

}  // namespace strata::bench::hpcc::linpack
