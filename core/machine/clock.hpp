#pragma once

#include <cstdint>

namespace strata::machine {

/// Runs `rounds` x kAdditionsARound additions, each needing the one before it, one a cycle, and returns their
/// count as they came to it. 0 where the chain cannot be trusted (an architecture not known here).
inline constexpr std::uint64_t kAdditionsARound = 32;
[[nodiscard]] std::uint64_t dependent_additions(std::uint64_t rounds);

/// The clock of the core that runs this, in GHz: a chain of dependent integer additions retires one a cycle
/// on every processor since the 1990s, so its length over its time is the frequency. The best of a few
/// windows of about 0.1 ms, until two agree; 1 ms at most. 0 where the chain cannot be trusted (an
/// architecture not known here).
[[nodiscard]] double measure_clock_ghz();

}  // namespace strata::machine
