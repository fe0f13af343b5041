#pragma once

#include <span>
#include <vector>

#include "benchmarks/npb/flow/domain.hpp"
#include "benchmarks/npb/lu/solve.hpp"

namespace strata::npb::lu {

/// The order of the triangular solves over workers and processes of one grid: blocks of rows (of workers,
/// then of processes) follow one another by one plane, columns of processes likewise: at step t block (i, j)
/// has plane t - i - j.
class Waves {
  public:
    Waves(flow::Domain& domain, double dt, Break fault);
    [[nodiscard]] static std::vector<Need> needs(const flow::Partition& partition, int workers);

    /// Both solves. `rhs` of the domain has the residual, and is used up.
    void run();

  private:
    [[nodiscard]] static int blocks_of(const flow::Partition& partition, int workers);

    template <int Way>
    void sweep();
    template <int Way>
    void hand_on(std::int64_t step);

    const flow::Partition& partition_;
    Group& group_;
    const flow::Cell& cell_;
    Solve solve_;
    std::span<double> scratch_;  // of each worker
};

}  // namespace strata::npb::lu
