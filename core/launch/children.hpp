// The processes that a supervisor starts itself.
#pragma once

#include <optional>
#include <vector>

#include "core/launch/own_share.hpp"
#include "core/launch/signals.hpp"
#include "core/launch/supervise.hpp"

namespace strata::launch {

/// The children of a supervisor, each in a session of its own: out of reach of the terminal's keys, which the
/// supervisor passes on, and on systems with autogroups a scheduling group of its own.
class Children {
  public:
    /// Starts all; throws Error (exit code 126 or 127) when the system refuses one, after ending the others.
    Children(const Job& job, const RunGroups& groups, const OwnShare& share, const SignalEvents& signals);

    /// Takes note of a process that ended; true when it was one of the children.
    bool ended(int pid, int status);
    [[nodiscard]] bool all_ended() const { return running_ == 0; }
    [[nodiscard]] bool any_failed() const { return failed_.has_value(); }
    /// Sends a signal to every process group that still runs.
    void signal(int number) const;
    /// The status, as of waitpid, that stands for all: of the first to fail, or success.
    [[nodiscard]] int status() const { return failed_.value_or(0); }

  private:
    /// The surroundings that a process enters before it becomes the program.
    struct Entry {
        const RunGroups& groups;
        const OwnShare& share;
        const SignalEvents& signals;
        bool first_to_go;  // when memory runs out
    };
    void start(const Process& process, const Entry& entry);
    static int enter(const Process& process, const Entry& entry);

    std::vector<int> pids_;
    size_t running_ = 0;
    std::optional<int> failed_;
};

}  // namespace strata::launch
