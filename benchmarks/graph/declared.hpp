// The chain of chain.hpp as a solver writes it: patches of a grid, labels, tasks that say what they need and
// make. What was done by hand there follows from the declarations here.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "benchmarks/common/benchmark.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "core/team/arena.hpp"

namespace strata::bench::graph_layer {

/// A graph of the chain's tasks on some grid, periodic or not; each task makes a label of its own, of one
/// number a cell, and every second one needs a layer of ghosts.
class DeclaredTasks {
  public:
    explicit DeclaredTasks(const graph::GridShape& shape);
    DeclaredTasks(const DeclaredTasks&) = delete;
    DeclaredTasks& operator=(const DeclaredTasks&) = delete;

    [[nodiscard]] graph::Graph& graph() { return graph_; }
    [[nodiscard]] const graph::Grid& grid() const { return grid_; }
    /// What the tasks do from the next batch on. Zero steps: nothing at all.
    void do_work(std::int64_t steps) { steps_ = steps; }
    /// Or: they compute numbers that show whether every input was there and was that of this step.
    void do_check(Break fault = Break::none) { steps_ = -1, fault_ = fault; }
    /// What the last task made, by patch; where each patch is a cell of a chain.
    [[nodiscard]] std::vector<std::uint64_t> last(const graph::Simulation& run) const;

  private:
    void declare_start();
    void declare_task(int task);

    graph::Graph graph_{"chain"};
    graph::Grid& grid_;
    std::vector<graph::Field<std::uint64_t>> made_;
    std::int64_t steps_ = 0;
    Break fault_ = Break::none;
};

/// A crew of threads, bound to a core each, over an arena.
[[nodiscard]] std::unique_ptr<team::Crew> bound_crew(team::Arena& arena, int threads);
/// How its threads wait.
[[nodiscard]] team::Patience bound_patience(team::Arena& arena, int threads);

/// A graph that one process runs in threads of such a crew, its start done.
class BoundRun {
  public:
    /// `records`: of each thread. The graph has to stay where it is.
    BoundRun(graph::Graph& graph, int threads, std::size_t records = 0);
    /// Seconds a step, of so many.
    double measure(std::int64_t steps) {
        (void)run_->advance(steps);
        return run_->batch().seconds / static_cast<double>(steps);
    }
    [[nodiscard]] graph::Simulation& operator*() const { return *run_; }
    [[nodiscard]] graph::Simulation* operator->() const { return run_.get(); }

  private:
    team::Arena arena_;
    std::unique_ptr<team::Crew> crew_;
    std::unique_ptr<graph::Simulation> run_;
};

/// The chain's 100 patches, run in threads of a crew that are bound to a core each.
class BoundDeclared {
  public:
    /// `records`: of each thread.
    BoundDeclared(int threads, std::size_t records);
    /// Goes through all tasks so often, without a batch in between.
    void run(std::int64_t steps) { (void)run_->advance(steps); }
    /// Nanoseconds a task, of a batch of about `window_s`.
    [[nodiscard]] double measure(std::int64_t work_steps, double window_s);
    [[nodiscard]] DeclaredTasks& tasks() { return tasks_; }
    /// How many of the last step's numbers are wrong after so many checked steps from the beginning.
    [[nodiscard]] int wrong(std::int64_t steps) const;

  private:
    DeclaredTasks tasks_;
    BoundRun run_;
};

}  // namespace strata::bench::graph_layer
