// The graph that runtimes are compared by: a chain of patches with some tasks each, of which every second one
// needs what both neighbours made in the task before.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "benchmarks/common/benchmark.hpp"
#include "core/graph/execute/program.hpp"
#include "core/graph/execute/worker.hpp"
#include "core/team/failure.hpp"

namespace strata::bench::graph_layer {

inline constexpr int kPatches = 100, kTasks = 6, kTasksAStep = kPatches * kTasks;

/// Whether task k of a step (from 0) needs its neighbours, beside its own patch.
[[nodiscard]] constexpr bool needs_neighbours(int task) { return task % 2 == 1; }

/// A task: so many steps of a recurrence of which none can begin before the one before has ended, so that it
/// takes the same time whatever else a core could do.
inline void work(std::int64_t steps) noexcept {
    std::uint64_t state = static_cast<std::uint64_t>(steps) | 1U;
    for (std::int64_t i = 0; i < steps; ++i)
        state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
    asm volatile("" : : "r"(state));
}
/// How many steps take so long.
[[nodiscard]] std::int64_t steps_for(double seconds);
/// Nanoseconds of a task in a plain loop over them, on this thread: what a runtime is compared with.
[[nodiscard]] double alone_ns(std::int64_t steps);

/// The graph as a program for the executor: the patches in equal parts, those next to another thread's first.
/// An operation overwrites what it made in the step before, when those who read it are done.
class ChainProgram {
  public:
    explicit ChainProgram(int threads);
    ChainProgram(const ChainProgram&) = delete;
    ChainProgram& operator=(const ChainProgram&) = delete;

    [[nodiscard]] graph::Program& program() { return program_; }
    /// What the operations do from the next batch on. Zero steps: nothing at all.
    void do_work(std::int64_t steps) { steps_ = steps; }
    /// Or: numbers are computed that show whether every input was there and was that of this step.
    void do_check(Break fault = Break::none) { steps_ = -1, fault_ = fault; }
    /// How many of the last step's numbers are wrong after so many checked steps from the beginning.
    [[nodiscard]] int wrong(int steps) const;

  private:
    struct Cell {
        ChainProgram* chain;
        int task, patch;
    };
    struct Flags {
        alignas(team::kApart) graph::Flag flag{0};
    };
    void make_operations(int threads);
    /// For inputs, and for those that read what an operation overwrites.
    void make_waits();
    /// In which each thread does its operations.
    void make_order(int threads);
    [[nodiscard]] std::uint64_t value(int task, int patch, std::span<const std::uint64_t> values) const;
    static graph::Outcome go(void* what, graph::Worker& worker);

    graph::Program program_;
    std::vector<Cell> cells_;
    std::unique_ptr<graph::Flag[]> own_;  // that no other thread looks at, by thread
    std::unique_ptr<Flags[]> seen_;       // that another looks at, each on lines of its own
    std::vector<std::uint64_t> values_;   // [task * kPatches + patch]
    std::int64_t steps_ = 0;
    Break fault_ = Break::none;
};

}  // namespace strata::bench::graph_layer
