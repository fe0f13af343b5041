// The waits of a program's operations. There are many of them: a patch has 26 neighbours. So what many have
// in common is kept once, and flags that follow each other in memory are one wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::graph {

using Epoch = std::uint32_t;
using Flag = std::atomic<Epoch>;

/// For one flag.
struct Wait {
    const Flag* flag = nullptr;
    std::uint16_t scope = 0;  // the scope whose epochs the flag counts
    std::uint16_t lag = 0;    // 0: in this round of that scope; k: k rounds before
};

struct Waits {
    /// For `count` flags, one after the other: the first is `at` flags from that of a space.
    struct Run {
        std::int32_t at = 0;
        std::uint16_t round = 0;
        std::uint8_t space = 0, count = 1;
    };
    struct Round {
        std::uint16_t scope = 0, lag = 0;
    };
    std::vector<Run> runs;
    std::vector<Round> rounds;
    std::vector<const Flag*> spaces;  // any of the flags within 8 GiB

    [[nodiscard]] std::size_t size() const { return runs.size(); }
    [[nodiscard]] const Flag* flag(const Run& run) const { return spaces[run.space] + run.at; }
    /// A run's wait for one of its flags.
    [[nodiscard]] Wait wait(std::size_t run, std::uint8_t number) const {
        const Run& of = runs[run];
        return {flag(of) + number, rounds[of.round].scope, rounds[of.round].lag};
    }
    /// Adds a run of one flag. Throws Error where there are too many scopes, or flags too far apart.
    void push_back(const Wait& wait);
    /// Adds the flag to the last run, if it is the next one there, in the same round.
    [[nodiscard]] bool extend(const Wait& wait);

  private:
    [[nodiscard]] std::uint16_t round_of(const Wait& wait);
};

}  // namespace strata::graph
