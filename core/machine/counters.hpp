#pragma once

#include "core/machine/machine.hpp"

namespace strata::machine {

/// Tries to open software and hardware counters for this process, as a program would, and says which opened.
[[nodiscard]] Counters try_counters();

}  // namespace strata::machine
