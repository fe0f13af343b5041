#pragma once

#include "core/machine/machine.hpp"

namespace strata::machine {

/// Tries to open software and hardware counters for this process, as a program would, and says which opened.
[[nodiscard]] Counters try_counters();

/// Why a counter did not open, in words: perf_event_open's error beside the level of perf_event_paranoid.
[[nodiscard]] std::string why_not(int error_number, std::optional<int> paranoid);

}  // namespace strata::machine
