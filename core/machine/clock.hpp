#pragma once

namespace strata::machine {

/// The clock of the core that runs this, in GHz: a chain of dependent integer additions retires one a cycle
/// on every processor since the 1990s, so its length over its time is the frequency. The best of several
/// windows of about 0.1 ms; under 2 ms in all. 0 where the chain cannot be trusted (an architecture not known
/// here).
[[nodiscard]] double measure_clock_ghz();

}  // namespace strata::machine
