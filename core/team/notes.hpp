// The last words of a member. The process that looks after it prints them, once, with the member's number and
// how it ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace strata::team {

/// Lies in shared memory, starts as zeros. The first word counts. May be left within a signal's handler.
class Note {
  public:
    /// `text`: in a line, also for the other members; `details`: lines that follow it on standard error, each
    /// ended. Both are cut to fit. `own`: an error of this member's own, so that it is worth saying also when
    /// another failed first; else it is what another's failing has made of it.
    void leave(std::string_view text, std::string_view details = {}, bool own = true) noexcept;
    /// "" before anything is left.
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

/// The exception that is being handled, for a member: its exit status and its message.
struct Reason {
    int status = 1;
    bool lost = false;  // another member is gone: that one's end is the run's
    std::string text;   // the first line
    std::string details;

    /// As a process says it that nobody looks after.
    [[nodiscard]] std::string said() const { return "strata: error: " + text + "\n" + details; }
};
/// To be called in a catch block.
[[nodiscard]] Reason reason_of_exception();
/// The same of words that may be several lines.
[[nodiscard]] Reason reason_of(std::string_view words);

/// Prints "strata: error: member 2 (process 4711) was killed by SIGKILL; the run ends" and the note's
/// details. `note`: may be null. `ends_run`: false for those that fail after the first.
void say_ended(int member, int pid, const std::string& how, const Note* note, bool ends_run);

/// Whether a member that failed after the first has an error of its own that has not been said.
[[nodiscard]] bool says_more(const Note* note, const std::string& said);

}  // namespace strata::team
