// The process that starts the workers, sees to it that they disturb nobody, and finds out about what they
// find.
#pragma once

#include "benchmarks/integrity/settings.hpp"

namespace strata::integrity {

/// Runs until the time or the rounds are over, or a signal comes. Returns the exit code: 0 nothing found, 1
/// something. Throws Error.
[[nodiscard]] int supervise(const Settings& settings);

/// --plain: each kernel in a loop on the first of the cores, and its speed.
[[nodiscard]] int run_plainly(const Settings& settings);

}  // namespace strata::integrity
