// How a process ended, in words and as an exit status.
#pragma once

#include <chrono>
#include <string>

namespace strata::team {

/// How long members that are told of a death, or to end, have for their last words.
inline constexpr auto kGrace = std::chrono::seconds(2);

/// "was killed by SIGKILL", "exited with status 7", from the status as of waitpid(2); for status 0: that it
/// did not leave its team.
[[nodiscard]] std::string how_it_ended(int status, const char* note);

/// As shells give it: 128 + signal, or the status; never 0.
[[nodiscard]] int failing_status(int status);

}  // namespace strata::team
