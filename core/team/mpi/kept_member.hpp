// The member of a keeper: its start and its line.
#pragma once

#include <string>
#include <vector>

#include "core/launch/signals.hpp"
#include "core/team/mpi/lines.hpp"

namespace strata::team {

/// The keeper's one child that is a rank of the program.
class KeptMember {
  public:
    KeptMember() = default;
    ~KeptMember();
    KeptMember(const KeptMember&) = delete;
    KeptMember& operator=(const KeptMember&) = delete;

    /// Starts the program anew, with the signal handling that the keeper found, and kills it when the keeper
    /// ends. Throws Error.
    void start(const std::vector<std::string>& arguments, const launch::SignalEvents& signals);
    /// Its process number, also after its end; 0: never started.
    [[nodiscard]] int pid() const { return pid_; }
    [[nodiscard]] bool alive() const { return alive_; }
    void mark_ended() { alive_ = false; }
    /// Sends it a signal; no effect after its end.
    void signal(int number) const;

    /// The line to it; -1 when it has ended.
    [[nodiscard]] int line() const { return line_; }
    /// Its next message; none when there is none (now).
    [[nodiscard]] std::optional<Message> next_word();
    void tell(const Message& word, int descriptor = -1) const { send_message(line_, word, descriptor); }

  private:
    int line_ = -1, pid_ = 0;
    bool alive_ = false;
};

}  // namespace strata::team
