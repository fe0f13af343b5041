// How long this process has lived: what a command says of its time in all, from its first instruction on.
#pragma once

#include <string>

namespace strata {

/// In s, to the 10 ms by which the kernel says when a process began; 0 where it does not say.
[[nodiscard]] double process_age_s();

/// "in all 3 min 20 s\n", the last line of a command that took longer than a second (the one before an
/// error); "" for a shorter one.
[[nodiscard]] std::string in_all_line();

}  // namespace strata
