#pragma once

#include <vector>

#include "benchmarks/npb/flow/field.hpp"

namespace strata::npb::flow {

/// How a grid is cut into boxes ("cells") and which process has which. Neighbours in one direction of all
/// cells of a process belong to one process, so that a process sends one message in each direction.
class Partition {
  public:
    /// Multi-partition: processes P = A B with B = A or B = 2 A make A x B x B cells, so that in every slab
    /// of cells across any direction each process has equally many. A sweep along a direction then keeps all
    /// at work, slab by slab (J. Bruno, P. Cappello, "Implementing the beam and warming method on the
    /// hypercube", 1988, for A = B). Throws Error unless P is a power of two.
    [[nodiscard]] static Partition multi(const Index& n, int rank, int processes);
    /// Columns along z over a rectangle of P = A B processes, B = A or B = 2 A: one cell for each.
    [[nodiscard]] static Partition columns(const Index& n, int rank, int processes);

    /// In how many parts each direction is cut.
    [[nodiscard]] const Index& cuts() const { return cuts_; }
    /// Places of this process's cells among all, in lexicographic order.
    [[nodiscard]] const std::vector<Index>& cells() const { return cells_; }
    [[nodiscard]] Tile tile(const Index& cell) const;
    /// Of this process's cells.
    [[nodiscard]] std::vector<Tile> tiles() const;
    /// The process that has the cells `step` further along a direction, round the edge.
    [[nodiscard]] int neighbour(std::size_t direction, std::int64_t step) const;
    /// Throws Error where a cell would have fewer than two points along a direction that is cut: fewer than a
    /// difference reaches over.
    void require_room() const;

  private:
    Partition(const Index& n, const Index& cuts, int rank, bool multi);
    [[nodiscard]] int owner(const Index& cell) const;

    Index n_, cuts_;
    bool multi_;
    std::vector<Index> cells_;
};

}  // namespace strata::npb::flow
