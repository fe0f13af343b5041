// What the measures that exchange messages share: contents that can be checked, and loops long enough to
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "benchmarks/common/benchmark.hpp"

namespace strata::bench::hpcc {

/// A well-mixed word of any word (the finalizer of SplitMix64); the generator of all contents here.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/// A double in [-1/2, 1/2) of any word.
[[nodiscard]] constexpr double uniform(std::uint64_t x) {
    return static_cast<double>(mixed(x) >> 11) * 0x1p-53 - 0.5;
}

/// Contents of which every byte follows from the seed, and how many bytes differ from them.
void fill(std::span<std::byte> message, std::uint64_t seed);
[[nodiscard]] std::uint64_t differences(std::span<const std::byte> message, std::uint64_t seed);

/// Writes the number of a message into its first and last bytes, up to 8 each; it and its check are inline
/// because they stand in timed loops, where a message takes 100 ns.
inline void stamp(std::span<std::byte> message, std::uint64_t number) {
    if (message.size() == sizeof number) {  // the size of all latencies: one store
        std::memcpy(message.data(), &number, sizeof number);
        return;
    }
    if (message.size() < sizeof number) {
        std::memcpy(message.data(), &number, message.size());
        return;
    }
    std::memcpy(message.data(), &number, sizeof number);
    std::memcpy(message.data() + message.size() - sizeof number, &number, sizeof number);
}

[[nodiscard]] inline bool stamped(std::span<const std::byte> message, std::uint64_t number) {
    if (message.size() < sizeof number) return std::memcmp(message.data(), &number, message.size()) == 0;
    std::uint64_t first = 0, last = 0;
    std::memcpy(&first, message.data(), sizeof first);
    if (message.size() == sizeof number) return first == number;
    std::memcpy(&last, message.data() + message.size() - sizeof last, sizeof last);
    return first == number && last == number;
}

/// How many calls make a timed loop of about `seconds`.
[[nodiscard]] long calls_for(double seconds, double seconds_per_call);

/// Says what to do instead when there is nobody to exchange messages with.
void require_two(const Group& group, const char* name);

}  // namespace strata::bench::hpcc
