#pragma once

#include <cstdint>

namespace strata::bench {

/// The i-th value of a reproducible random sequence, without the ones before it: SplitMix64 (Steele, Lea and
/// Flood, Fast splittable pseudorandom number generators, OOPSLA 2014). So any process can make, and check,
/// any element.
[[nodiscard]] constexpr std::uint64_t random_bits(std::uint64_t i, std::uint64_t seed = 0) {
    std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15U + seed * 0xd1342543de82ef95U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

/// The same as a double in [-0.5, 0.5).
[[nodiscard]] constexpr double random_double(std::uint64_t i, std::uint64_t seed = 0) {
    return static_cast<double>(random_bits(i, seed) >> 11) * 0x1p-53 - 0.5;
}

}  // namespace strata::bench
