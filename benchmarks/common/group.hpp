#pragma once

#include <optional>
#include <span>
#include <string>

#include "benchmarks/common/messages.hpp"

namespace strata::bench {

/// What a process sends to another one and receives from it, once each, of the same size.
struct Swap {
    int peer = 0;
    std::span<const double> out;
    std::span<double> in;
};

/// The processes that run a benchmark together. One process alone needs no MPI; with MPI they are its ranks.
class Group {
  public:
    virtual ~Group() = default;
    [[nodiscard]] virtual int rank() const { return 0; }
    [[nodiscard]] virtual int size() const { return 1; }
    virtual void barrier() {}
    /// Over all processes, the same on each. A parallel run's time is its slowest member's: the largest.
    [[nodiscard]] virtual double max(double value) { return value; }
    [[nodiscard]] virtual double min(double value) { return value; }
    [[nodiscard]] virtual double sum(double value) { return value; }
    /// Each value becomes the sum of all processes' ones.
    virtual void sum(std::span<double> values) { (void)values; }
    /// The first process's value, on each.
    [[nodiscard]] virtual double from_first(double value) { return value; }
    /// All swaps at once, nonblocking; returns when all have come and gone. No two are with the same peer.
    /// Each peer swaps with this process at the same time, so one process alone has none.
    virtual void exchange(std::span<const Swap> swaps) { (void)swaps; }
    /// Messages that go on while this process computes; not mixed with other calls that wait for the others.
    [[nodiscard]] virtual Messages& messages() { return alone_; }
    /// How many of the processes are on this one's machine, and share its memory.
    [[nodiscard]] virtual int here() const { return 1; }
    /// The MPI library's own name and version; nothing without MPI.
    [[nodiscard]] virtual std::optional<std::string> mpi() const { return std::nullopt; }
    /// Ends the others, who may wait for a process that has failed alone.
    virtual void abandon(int status) { (void)status; }

  private:
    Messages alone_;
};

}  // namespace strata::bench
