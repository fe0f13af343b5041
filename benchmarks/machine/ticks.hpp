// Which counter of time measures that need the finest one read: machine::ordered_ticks().
#pragma once

#include <string>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/machine/ticks.hpp"

namespace strata::bench::machine_measures {

/// Its name, for results.
[[nodiscard]] inline std::string ticks_kind() {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned kInvariant = 1U << 8;  // Intel SDM vol. 3, 18.17: runs at one rate in all states
    const bool invariant = __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & kInvariant) != 0;
    return invariant ? "time-stamp counter (rdtsc, invariant)" : "time-stamp counter (rdtsc)";
#elif defined(__aarch64__)
    return "virtual counter (cntvct_el0)";
#else
    return "clock_gettime(CLOCK_MONOTONIC)";
#endif
}

}  // namespace strata::bench::machine_measures
