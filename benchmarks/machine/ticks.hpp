// The finest counter of time that a program may read for itself, without a system call.
#pragma once

#include <cstdint>
#include <string>
#if defined(__x86_64__)
#include <cpuid.h>
#elif !defined(__aarch64__)
#include <ctime>
#endif

namespace strata::bench::machine_measures {

/// The time-stamp counter, after everything before it has been done and before anything after it begins.
[[nodiscard]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    std::uint32_t low = 0, high = 0;
    // rdtsc waits for nothing by itself (Intel SDM vol. 2, RDTSC): the fences make the order.
    asm volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
    return std::uint64_t{high} << 32 | low;
#elif defined(__aarch64__)
    std::uint64_t value = 0;
    asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(value)::"memory");
    return value;
#else
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1000000000U + static_cast<std::uint64_t>(t.tv_nsec);
#endif
}

/// Which counter that is.
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
