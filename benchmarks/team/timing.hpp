// A loop that all members go through together, checked first, then timed: the same for every kind of barrier.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/common/benchmark.hpp"
#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/median.hpp"
#include "core/team/failure.hpp"

namespace strata::bench::team_layer {

inline constexpr int kWindows = 11;

/// What the members of one measurement share; starts as zeros.
struct Shared {
    std::atomic<std::uint64_t> wrong;
    std::atomic<long> rounds;              // in a timed window
    std::array<double, kWindows> windows;  // seconds a round, by member 0
};

struct alignas(team::kApart) Count {
    std::atomic<long> value;
};

/// Of the windows, in nanoseconds.
[[nodiscard]] inline double median_ns(const Shared& shared) {
    return 1e9 * median({shared.windows.begin(), shared.windows.end()});
}

/// Times `round()`, which all members call equally often and which lets none run ahead by more than one.
template <class Round>
void time_rounds(Shared& shared, int member, double window_s, long most, Round round) {
    constexpr int trial = 5;
    for (int i = 0; i < trial; ++i) round();
    const double start = now();
    for (int i = 0; i < trial; ++i) round();
    if (member == 0) {
        const double each = (now() - start) / trial;
        shared.rounds = std::clamp(static_cast<long>(window_s / std::max(each, 1e-9)), 5L, most);
    }
    round();
    const long rounds = shared.rounds;
    for (int window = -1; window < kWindows; ++window) {  // the first one warms up
        const double begin = now();
        for (long i = 0; i < rounds; ++i) round();
        if (member == 0 && window >= 0)
            shared.windows[static_cast<std::size_t>(window)] = (now() - begin) / static_cast<double>(rounds);
    }
}

/// Counts in shared.wrong whom the barrier lets through before all have come: in each round another member
/// comes late, and after the barrier everybody's count must have reached the round.
template <class Wait>
void check_barrier(Shared& shared, std::span<Count> counts, int member, int rounds, Break fault, Wait wait) {
    const auto members = static_cast<int>(counts.size());
    std::atomic<long>& mine = counts[static_cast<std::size_t>(member)].value;
    for (int round = 1; round <= rounds; ++round) {
        const bool late = round % members == member;
        if (late) usleep(50);
        if (fault != Break::perturb || !late) mine.store(round);
        if (fault != Break::skip) wait();
        for (const Count& other : counts) {
            const long seen = other.value.load();
            if (seen < round || seen > round + 1) ++shared.wrong;
        }
        if (fault == Break::perturb && late) mine.store(round);  // as one that all have passed without
    }
}

}  // namespace strata::bench::team_layer
