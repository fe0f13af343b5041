#pragma once

#include <string>

#include "core/machine/machine.hpp"

namespace strata::machine {

/// What the system says of the clocks: base and highest frequency, governor of each core, turbo. Guests
/// mostly say nothing; clock.hpp measures. `root` is put before /sys.
void read_frequencies(Machine& machine, const std::string& root = "");

}  // namespace strata::machine
