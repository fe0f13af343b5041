// Benchmarks of the task graph.
#pragma once

#include <memory>

#include "benchmarks/common/benchmark.hpp"
#include "benchmarks/graph/chain.hpp"
#include "core/graph/execute/executor.hpp"
#include "core/team/arena.hpp"

namespace strata::bench::graph_layer {

extern const Benchmark tasks, compile, sweep_patches, balance_patches, overset;
extern const Benchmark update;  // where the solvers are built

/// The chain's program with an executor for it, in threads of a crew that are bound to a core each.
class BoundChain {
  public:
    /// `records`: of each thread.
    BoundChain(int threads, std::size_t records);
    /// Nanoseconds a task, of a batch of about `window_s`.
    [[nodiscard]] double measure(std::int64_t work_steps, double window_s);
    [[nodiscard]] ChainProgram& chain() { return chain_; }
    [[nodiscard]] graph::Executor& executor() { return *executor_; }

  private:
    team::Arena arena_;
    ChainProgram chain_;
    std::unique_ptr<team::Crew> crew_;
    std::unique_ptr<graph::Executor> executor_;
};

}  // namespace strata::bench::graph_layer
