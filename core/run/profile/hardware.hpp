// The processor's own counters, through PAPI (https://icl.utk.edu/papi): one event set for each thread, read
// before and after each operation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/run/profile/counting.hpp"

namespace strata::graph {

/// Counts these PAPI events. None: instructions, cycles and cache misses, as many as the processor can count
/// at once. The cost of a reading is measured in each thread at its first batch, and subtracted. Throws Error
/// where an event cannot be counted, or no events are available.
[[nodiscard]] std::unique_ptr<Counting> make_hardware_counting(const std::vector<std::string>& events);

}  // namespace strata::graph
