// The processor's own counter of time, which takes some nanoseconds to read.
#pragma once

#include <cstdint>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ctime>
#endif

namespace strata::graph {

/// Not ordered with what stands around it, which would cost more than the reading: a few instructions of the
/// neighbours may be counted on the wrong side.
[[nodiscard]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t value = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1000000000U + static_cast<std::uint64_t>(t.tv_nsec);
#endif
}

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
