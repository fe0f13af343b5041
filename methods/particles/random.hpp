// Random numbers from a counter: the same for an atom and a step, whoever asks and in whatever order. Philox
// 4x32 with ten rounds: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace strata::particles {

/// Four numbers of 32 bits.
using Four = std::array<std::uint32_t, 4>;

[[nodiscard]] constexpr Four philox(Four counter, std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53U} * counter[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * counter[2];
        counter = {static_cast<std::uint32_t>(b >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
                   static_cast<std::uint32_t>(a >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
        key[0] += 0x9E3779B9U, key[1] += 0xBB67AE85U;
    }
    return counter;
}

/// Four numbers for an atom (or another thing with a number) at a step; `seed` is 32 bits of the case's and
/// `use` tells apart what asks for numbers.
[[nodiscard]] constexpr Four dice(std::int64_t id, std::int64_t step, std::uint32_t seed, std::uint32_t use) {
    const auto i = static_cast<std::uint64_t>(id), s = static_cast<std::uint64_t>(step);
    return philox({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32U),
                   static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(s >> 32U)},
                  {seed, use});
}

/// Above 0, up to 1.
[[nodiscard]] constexpr double unit(std::uint32_t number) { return (number + 1.0) * 0x1p-32; }

/// Four numbers of the normal distribution: G. E. P. Box, M. E. Muller, Ann. Math. Stat. 29 (1958) 610.
[[nodiscard]] inline std::array<double, 4> normal(const Four& from) {
    std::array<double, 4> all;
    for (std::size_t p = 0; p < 4; p += 2) {
        const double radius = std::sqrt(-2 * std::log(unit(from[p])));
        const double angle = 2 * std::numbers::pi * unit(from[p + 1]);
        all[p] = radius * std::cos(angle), all[p + 1] = radius * std::sin(angle);
    }
    return all;
}

}  // namespace strata::particles
