// Counters that a thread reads before and after each operation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/run/profile/counting.hpp"

namespace strata::graph {

/// The counters of one thread, called by it alone.
class Readings {
  public:
    Readings() = default;
    Readings(const Readings&) = delete;
    Readings& operator=(const Readings&) = delete;
    virtual ~Readings() = default;

    /// Counts these events from here on; called before each batch. Throws Error.
    virtual void start(const std::vector<std::string>& events) = 0;
    /// The counts, in the order of the events. Only their differences are used.
    virtual void read(long long* values) = 0;
};

/// The cost of a reading is measured in each thread at its first batch (the median of 201 pairs of readings)
/// and subtracted. `from`: the name of the counting tool. `of_this_thread`: returns the calling thread's
/// counters.
[[nodiscard]] std::unique_ptr<Counting> make_measured_counting(std::vector<std::string> events,
                                                               std::string from,
                                                               Readings& (*of_this_thread)());

}  // namespace strata::graph
