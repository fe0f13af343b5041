// Signals and the lifeline as events to wait for.
#pragma once

#include <csignal>
#include <optional>
#include <vector>

namespace strata::launch {

/// Takes the signals that end, stop or inform a supervisor; those that were ignored when it started stay so
/// (nohup).
class SignalEvents {
  public:
    SignalEvents();
    ~SignalEvents();
    SignalEvents(const SignalEvents&) = delete;
    SignalEvents& operator=(const SignalEvents&) = delete;

    /// Waits for a signal, for the lifeline's end, or `seconds` (negative: without limit). The signals that
    /// came.
    std::vector<int> wait(double seconds, std::optional<int> lifeline, bool& lifeline_ended) const;
    /// In a new process: as this one found them.
    void restore() const;

  private:
    sigset_t found_{};
    struct sigaction found_child_ {};
    int fd_ = -1;
};

}  // namespace strata::launch
