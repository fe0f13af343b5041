#pragma once

#include <cstdint>

namespace strata::integrity {

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014): a bijection of 64 bits.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/// SplitMix64: every input of a kernel follows from its seed.
class Random {
  public:
    explicit constexpr Random(std::uint64_t seed) : state_(seed) {}
    constexpr std::uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15ULL); }
    /// 0 to limit - 1 for a limit far below 2^32.
    constexpr std::uint64_t below(std::uint64_t limit) { return ((next() >> 32) * limit) >> 32; }
    /// In [0, 1).
    constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  private:
    std::uint64_t state_;
};

}  // namespace strata::integrity
