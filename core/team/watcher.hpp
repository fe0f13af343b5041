// Looking after the members of a team on one node: collecting those that end, telling the others, passing
// signals on, and leaving no process behind.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "core/launch/signals.hpp"
#include "core/team/arena.hpp"

namespace strata::team {

/// A member as its watcher sees it.
struct Member {
    int pid = 0;  // 0: has ended
    int line = -1;
    bool agreed = false;
};

/// The process that has the members as its children. Signals are taken from its making on; its end ends all
/// processes below, unless it is that of a copy in a child.
class Watcher {
  public:
    /// The arena must have been laid out (seats.hpp) and outlive this.
    explicit Watcher(Arena& arena);
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    /// Until all members have ended or, after one that failed, until the others have had their time.
    void watch();
    /// The status of the first member to fail: its exit status, 128 + signal when it was killed, 1 when it
    /// left its team alone with status 0.
    [[nodiscard]] int status() const { return status_; }

  protected:
    void collect();
    void handle(int signal);
    /// Whether the members' time is being counted: somebody has failed, or the run was told to end.
    [[nodiscard]] bool ending() const { return kill_at_.has_value(); }
    /// In a new child: a session of its own (keys of the terminal go to the parent, which passes them on),
    /// signals as the parent found them, standard input for member 0 alone.
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
