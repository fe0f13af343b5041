#include "core/machine/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace strata::machine {
namespace {

double seconds_now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

// Written in assembly, as a compiler would fold the chain, and a chain of `x += 1` is itself folded by the
// renaming of recent processors (Intel since Alder Lake adds small immediates for free): the addend is a
// register.
std::uint64_t dependent_additions(std::uint64_t rounds) {
    std::uint64_t x = 0;
#if defined(__x86_64__)
    const std::uint64_t one = 1;
    for (std::uint64_t i = 0; i < rounds; ++i) {
        asm volatile(
            ".rept 32\n\t"
            "add %1, %0\n\t"
            ".endr"
            : "+r"(x)
            : "r"(one));
    }
#elif defined(__aarch64__)
    const std::uint64_t one = 1;
    for (std::uint64_t i = 0; i < rounds; ++i) {
        asm volatile(
            ".rept 32\n\t"
            "add %0, %0, %1\n\t"
            ".endr"
            : "+r"(x)
            : "r"(one));
    }
#else
    (void)rounds;
#endif
    return x;
}

double measure_clock_ghz() {
    constexpr std::uint64_t rounds = 8'000;  // 256,000 cycles: 0.05-0.1 ms
    constexpr int least = 3, most = 12;
    constexpr double agree = 0.995;
    double best = 0, second = 0;
    for (int i = 0; i < most; ++i) {
        if (i >= least && second >= agree * best) break;  // two windows that nothing interrupted say the same
        const double start = seconds_now();
        if (dependent_additions(rounds) != kAdditionsARound * rounds) return 0;
        const double elapsed = seconds_now() - start;
        if (elapsed <= 0) continue;
        const double ghz = static_cast<double>(kAdditionsARound * rounds) / elapsed * 1e-9;
        second = std::max(second, std::min(best, ghz));
        best = std::max(best, ghz);
    }
    return best;
}

}  // namespace strata::machine
