// A meter measures operations while they run (core/run/profile/counting.hpp).
#pragma once

#include <cstdint>

#include "core/graph/execute/program.hpp"

namespace strata::graph {

/// Called by the threads of an executor, each with its own number: no lock is needed. The functions that a
/// meter calls may throw.
class Meter {
  public:
    Meter() = default;
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;
    virtual ~Meter() = default;

    /// From now on operations are those of this program, on this number of threads. Called between batches.
    virtual void follow(const Program& program, int threads) = 0;
    /// Calls `work(held)`: the whole work of a thread in a batch.
    virtual void batch(int thread, void (*work)(void*), void* held) = 0;
    /// Calls `part(held)`, which runs an operation or part of one, and returns its result: whether the
    /// operation is done. Calls are never nested.
    virtual bool around(std::uint32_t op, int thread, bool (*part)(void*), void* held) = 0;
};

}  // namespace strata::graph
