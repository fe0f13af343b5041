// How fast the processor's counter of time runs.
#pragma once

#include <cstdint>

#include "core/machine/ticks.hpp"

namespace strata::graph {

using machine::ticks;

/// How fast the counter runs, and what reading it takes.
struct TickRate {
    double seconds = 1e-9;  // of one
    double reading = 0;     // ticks between two readings of which one follows the other
    std::uint64_t at_ticks = 0;
    double at_seconds = 0;
    /// When that was, on the system's clock (CLOCK_MONOTONIC), which all processes of a node share.
    [[nodiscard]] double monotonic(std::uint64_t when) const {
        return at_seconds + seconds * static_cast<double>(static_cast<std::int64_t>(when - at_ticks));
    }
};

/// Measured against the system's clock; the first call takes about 5 ms. Later calls measure over all the
/// time since then, and so more exactly: to some parts in a million after a second.
[[nodiscard]] TickRate tick_rate();

}  // namespace strata::graph
