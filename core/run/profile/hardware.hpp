// The processor's own counters, through PAPI (https://icl.utk.edu/papi): one event set for each thread, read
// before and after each operation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/run/profile/counting.hpp"

namespace strata::graph {

/// Counts these events of PAPI's; none: instructions, cycles and cache misses, as many as the processor
/// counts at once. What reading costs is measured in each thread when it begins, and subtracted. Throws Error
/// where an event cannot be counted, or there are none.
[[nodiscard]] std::unique_ptr<Counting> make_hardware_counting(const std::vector<std::string>& events);

}  // namespace strata::graph
