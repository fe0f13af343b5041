#include "core/team/waiting.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace strata::team::detail {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
              sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

// Not FUTEX_PRIVATE: waiters are in different processes.

void sleep_on(std::atomic<std::uint32_t>& value, std::uint32_t seen, std::uint32_t bits) noexcept {
    constexpr long tenth = 100'000'000, second = 1'000'000'000;
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);  // FUTEX_WAIT_BITSET takes a moment, not a duration
    until.tv_nsec += tenth;
    if (until.tv_nsec >= second) {
        until.tv_nsec -= second;
        ++until.tv_sec;
    }
    syscall(SYS_futex, &value, FUTEX_WAIT_BITSET, seen, &until, nullptr, bits);
}

void wake(std::atomic<std::uint32_t>& value, std::uint32_t bits) noexcept {
    syscall(SYS_futex, &value, FUTEX_WAKE_BITSET, INT_MAX, nullptr, nullptr, bits);
}

}  // namespace strata::team::detail
