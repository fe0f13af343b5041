// The last message of a member. The process that watches it prints it, once, with the member's number and the
// way it ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace strata::team {

/// Lies in shared memory, starts as zeros. Only the first call of leave() counts. It may be called in a
/// signal handler.
class Note {
  public:
    /// `text`: one line, also for the other members. `details`: lines that follow it on standard error, each
    /// with a line end. Both are cut to fit. `own`: an error of this member's own, to be printed also when
    /// another member failed first. Else the error is a consequence of the other's failure.
    void leave(std::string_view text, std::string_view details = {}, bool own = true) noexcept;
    /// "" before leave().
    [[nodiscard]] const char* text() const noexcept { return text_; }
    [[nodiscard]] const char* details() const noexcept { return details_; }
    [[nodiscard]] bool own() const noexcept { return own_ != 0; }

  private:
    std::atomic<std::uint32_t> left_{0};
    std::uint32_t own_ = 0;
    char text_[1016] = {};
    char details_[3072] = {};
};
static_assert(sizeof(Note) == 4096);

/// The exception being handled, as a member's exit status and message.
struct Reason {
    int status = 1;
    bool lost = false;  // another member is gone, and its end is the run's result
    std::string text;   // the first line
    std::string details;

    /// The message of a process without a watcher.
    [[nodiscard]] std::string said() const { return "strata: error: " + text + "\n" + details; }
};
/// To be called in a catch block.
[[nodiscard]] Reason reason_of_exception();
/// The same for a text of one or more lines.
[[nodiscard]] Reason reason_of(std::string_view words);

/// Prints "strata: error: member 2 (process 4711) was killed by SIGKILL; the run ends" and the note's
/// details. `note`: may be null. `ends_run`: false for members that fail after the first.
void say_ended(int member, int pid, const std::string& how, const Note* note, bool ends_run);

/// Whether a member that failed after the first has an error of its own that has not been printed.
[[nodiscard]] bool says_more(const Note* note, const std::string& said);

}  // namespace strata::team
