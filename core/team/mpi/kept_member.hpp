// The member that a keeper looks after: its start, its line, its end.
#pragma once

#include <string>
#include <vector>

#include "core/launch/signals.hpp"
#include "core/team/arena.hpp"
#include "core/team/mpi/lines.hpp"
#include "core/team/notes.hpp"

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

/// How a member ended, from its status as of waitpid(2) and what it left in the arena (null: it never had
/// one).
struct KeptEnd {
    bool in_order = false;       // it left its team, with status 0
    std::string how;             // "was killed by SIGKILL"
    const Note* note = nullptr;  // what it left to be said; lies in the arena
};
[[nodiscard]] KeptEnd kept_end(int status, const Arena* arena, int local_rank);

}  // namespace strata::team
