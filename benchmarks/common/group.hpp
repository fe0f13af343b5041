#pragma once

#include <optional>
#include <string>

namespace strata::bench {

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
    /// The first process's value, on each.
    [[nodiscard]] virtual double from_first(double value) { return value; }
    /// The MPI library's own name and version; nothing without MPI.
    [[nodiscard]] virtual std::optional<std::string> mpi() const { return std::nullopt; }
    /// Ends the others, who may wait for a process that has failed alone.
    virtual void abandon(int status) { (void)status; }
};

}  // namespace strata::bench
