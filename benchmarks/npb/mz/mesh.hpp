#pragma once

#include <vector>

#include "benchmarks/npb/flow/cells.hpp"
#include "benchmarks/npb/mz/assignment.hpp"
#include "benchmarks/npb/mz/zones.hpp"

namespace strata::npb::mz {

/// The zones that a process holds, each a cell of its own: a rank's, or all where memory is shared. Zones
/// of one memory take their neighbours' values where these lie; what crosses ranks goes in one message to
/// each rank.
class Mesh : public flow::Cells {
  public:
    Mesh(const Zones& zones, const Assignment& assignment, Group& group);

    /// Memory of the mean process of so many ranks, for the plan.
    [[nodiscard]] static std::vector<Need> needs(const Zones& zones, int ranks, int workers);

    /// In each zone the values on its four sides become those that its neighbours have one point within
    /// theirs.
    void exchange();

    /// The sum over all zones of their root mean squares: of u less the exact solution over the points that
    /// `over` says, and of rhs within the boundary. Both are divided by the number of points within it.
    [[nodiscard]] flow::State error_norm(flow::Over over) { return norm(error_sums(over)); }
    [[nodiscard]] flow::State rhs_norm() { return norm(rhs_sums()); }

    /// Of a group of workers: which cells, and which workers.
    struct Crew {
        std::vector<std::size_t> cells;
        int first = 0, count = 0;
    };
    [[nodiscard]] const std::vector<Crew>& crews() const { return crews_; }

  private:
    /// One side of one zone that comes from, or goes to, another rank: where it is in the message.
    struct Side {
        std::size_t side;
        std::size_t at;  // of its first double, in the buffer of all messages
    };
    struct Peer {
        int rank;
        std::size_t begin, end;  // doubles, the same both ways
    };
    struct Laid {
        std::vector<flow::Cell> cells;
        std::vector<std::size_t> zones;
        std::vector<int> owners, counts;
        std::vector<double> costs;
    };
    [[nodiscard]] static Laid lay(const Zones& zones, const Assignment& assignment, const Group& group);
    Mesh(const Zones& zones, const Assignment& assignment, Group& group, Laid laid);
    void find_neighbours(const Zones& zones, const Assignment& assignment,
                         const std::vector<std::size_t>& mine);
    [[nodiscard]] flow::State norm(const std::vector<flow::State>& sums) const;

    static constexpr std::size_t kElsewhere = ~std::size_t{0};
    std::vector<std::array<std::size_t, kSides>> neighbours_;  // [cell][side]: a cell, or kElsewhere
    std::vector<std::vector<Side>> incoming_, outgoing_;       // [cell]
    std::vector<Peer> peers_;
    std::vector<double> in_, out_;
    std::vector<Crew> crews_;
};

}  // namespace strata::npb::mz
