// What stands around operations while they run, to count what they do (core/run/profile/counting.hpp).
#pragma once

#include <cstdint>

#include "core/graph/execute/program.hpp"

namespace strata::graph {

/// Called by the threads of an executor; by each with its own number, so nothing needs a lock. What is called
/// back may throw.
class Meter {
  public:
    Meter() = default;
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;
    virtual ~Meter() = default;

    /// From now on operations are those of this program, on so many threads. Between batches.
    virtual void follow(const Program& program, int threads) = 0;
    /// Calls `work(held)`: all that a thread does in a batch.
    virtual void batch(int thread, void (*work)(void*), void* held) = 0;
    /// Calls `part(held)` and returns what it returns: an operation, or part of one, and whether it is done.
    /// Never within another.
    virtual bool around(std::uint32_t op, int thread, bool (*part)(void*), void* held) = 0;
};

}  // namespace strata::graph
