// Watches the members of a team on one node: collects those that end, tells the others, passes signals on,
// and leaves no process behind.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "core/launch/signals.hpp"
#include "core/team/arena.hpp"

namespace strata::team {

/// A member in its watcher's list.
struct Member {
    int pid = 0;  // 0: has ended
    int line = -1;
    bool agreed = false;
};

/// For the process that has the members as its children. Signals are handled from construction on. The
/// destructor ends all processes below, but not in a forked child's copy.
class Watcher {
  public:
    /// The arena must have been laid out (seats.hpp) and outlive this.
    explicit Watcher(Arena& arena);
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    /// Watches until all members have ended or, after one has failed, until the others have had their time.
    void watch();
    /// The status of the first member to fail: its exit status, 128 + signal when it was killed, 1 when it
    /// left its team alone with status 0.
    [[nodiscard]] int status() const { return status_; }

  protected:
    void collect();
    void handle(int signal);
    /// Whether the members' remaining time runs: one has failed, or the run was told to end.
    [[nodiscard]] bool ending() const { return kill_at_.has_value(); }
    /// Prepares a new child: a session of its own (keys of the terminal go to the parent, which passes them
    /// on), signals as before the parent, standard input for member 0 only.
    void settle(int rank) const;

    Arena& arena_;
    launch::SignalEvents signals_;
    std::vector<Member> members_;

  private:
    using Clock = std::chrono::steady_clock;

    void ended(int rank, int status);
    [[nodiscard]] bool any_alive() const;

    int owner_, status_ = 0, asked_by_ = 0;
    std::optional<Clock::time_point> kill_at_;
};

}  // namespace strata::team
