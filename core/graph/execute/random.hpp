// For tests: random orders and random delays.
#pragma once

#include <cstdint>

namespace strata::graph {

/// Every order that the declarations allow must give the same results; with a seed, threads take random ones.
struct Shuffle {
    std::uint64_t seed = 0;       // 0: the preferred order, no delays
    double delay_chance = 0.1;    // before an operation, and before its flag is set
    double longest_delay = 5e-5;  // seconds
};

namespace detail {

/// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). Any seeds
/// will do, also consecutive ones for threads and processes.
class SplitMix64 {
  public:
    explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
    [[nodiscard]] std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    /// 0 .. n - 1.
    [[nodiscard]] std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(next() % n); }
    /// 0 <= x < 1.
    [[nodiscard]] double unit() { return 0x1p-53 * static_cast<double>(next() >> 11U); }

  private:
    std::uint64_t state_;
};

}  // namespace detail
}  // namespace strata::graph
