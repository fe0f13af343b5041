// The member that a keeper looks after: its start and its line.
#pragma once

#include <string>
#include <vector>

#include "core/launch/signals.hpp"
#include "core/team/mpi/lines.hpp"

namespace strata::team {

/// The one child of a keeper that is a rank of the program.
class KeptMember {
  public:
    KeptMember() = default;
    ~KeptMember();
    KeptMember(const KeptMember&) = delete;
    KeptMember& operator=(const KeptMember&) = delete;

    /// Starts the program afresh, with signals as the keeper found them, and kills it when the keeper ends.
    /// Throws Error.
    void start(const std::vector<std::string>& arguments, const launch::SignalEvents& signals);
    /// Its process number, also when it has ended; 0: never started.
    [[nodiscard]] int pid() const { return pid_; }
    [[nodiscard]] bool alive() const { return alive_; }
    void mark_ended() { alive_ = false; }
    /// No effect when it has ended.
    void signal(int number) const;

    /// The line to it; -1 when it has all that it needs, or has ended.
    [[nodiscard]] int line() const { return line_; }
    /// The next word from it; nothing when there is none (now).
    [[nodiscard]] std::optional<Message> next_word();
    void tell(const Message& word, int descriptor = -1) const { send_message(line_, word, descriptor); }

  private:
    int line_ = -1, pid_ = 0;
    bool alive_ = false;
};

}  // namespace strata::team
