// The common ground of two cores: lines that both write, a barrier, and what tells one that the other has
// gone.
#pragma once

#include <sched.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

inline constexpr std::size_t kLines = 64, kWords = 8;

struct alignas(128) Line {
    std::array<std::atomic<std::uint64_t>, kWords> word;
};

struct Ground {
    std::array<Line, kLines> lines;
    std::array<Line, 2> turn;  // each side's counter of steps done
};

/// Waits until the other side has done `step` steps; false where the round is abandoned.
inline bool await(const Round& round, std::uint64_t step) {
    const auto& there = round.ground->turn[static_cast<std::size_t>(1 - round.side)].word[0];
    for (std::uint64_t n = 1; there.load(std::memory_order_acquire) < step; ++n) {
        if (n % 64 == 0 && round.abandoned()) return false;
        if (n % 4096 == 0) sched_yield();  // where both sides share a core
    }
    return true;
}

inline void done(const Round& round, std::uint64_t step) {
    round.ground->turn[static_cast<std::size_t>(round.side)].word[0].store(step, std::memory_order_release);
}

}  // namespace strata::integrity
