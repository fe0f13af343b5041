// The processor's own counter of time, which takes some nanoseconds to read and no system call.
#pragma once

#include <cstdint>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ctime>
#endif

namespace strata::machine {

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

/// After everything before it has been done and before anything after it begins.
[[nodiscard]] inline std::uint64_t ordered_ticks() noexcept {
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
    return ticks();
#endif
}

}  // namespace strata::machine
