// The rate of the processor's time counter.
#pragma once

#include <cstdint>

#include "core/machine/ticks.hpp"

namespace strata::graph {

using machine::ticks;

/// The counter's rate, and the cost of reading it.
struct TickRate {
    double seconds = 1e-9;  // of one tick
    double reading = 0;     // ticks between two readings in a row
    std::uint64_t at_ticks = 0;
    double at_seconds = 0;
    /// Converts a reading to seconds on the system's clock (CLOCK_MONOTONIC), which all processes of a node
    /// share.
    [[nodiscard]] double monotonic(std::uint64_t when) const {
        return at_seconds + seconds * static_cast<double>(static_cast<std::int64_t>(when - at_ticks));
    }
};

/// Measured against the system's clock. The first call takes about 5 ms. Later calls measure over the whole
/// time since then, so they are more exact: within some parts in a million after a second.
[[nodiscard]] TickRate tick_rate();

}  // namespace strata::graph
