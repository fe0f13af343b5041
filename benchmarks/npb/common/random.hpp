// The pseudorandom numbers of the benchmarks (NAS-91-002, section 2.3): x(k+1) = a x(k) mod 2^46 with
// a = 5^13, as values 2^-46 x(k) in (0, 1). The product of two such numbers is taken mod 2^64, whose low 46
// bits are those of the exact product; so it is exact, and any element is found by powers of a.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strata::npb {

class Random {
  public:
    static constexpr std::uint64_t kMask = (std::uint64_t{1} << 46) - 1;
    static constexpr std::uint64_t kMultiplier = 1220703125;  // 5^13
    static constexpr double kScale = 0x1p-46;

    /// The sequence after x(0) = seed; the first number is x(1).
    explicit constexpr Random(std::uint64_t seed) : x_(seed & kMask) {}

    /// a^n mod 2^46, by squaring.
    [[nodiscard]] static constexpr std::uint64_t power(std::uint64_t n) {
        std::uint64_t result = 1;
        for (std::uint64_t a = kMultiplier; n != 0; n /= 2, a = a * a & kMask)
            if (n % 2 != 0) result = result * a & kMask;
        return result;
    }
    /// The sequence n numbers further on.
    [[nodiscard]] constexpr Random after(std::uint64_t n) const { return Random(x_ * power(n)); }

    [[nodiscard]] constexpr double next() {
        x_ = x_ * kMultiplier & kMask;
        return static_cast<double>(x_) * kScale;
    }
    /// The next `count` numbers: kLanes subsequences side by side, each advancing by a^kLanes.
    void fill(double* out, std::size_t count) {
        constexpr std::size_t kLanes = 16;
        constexpr std::uint64_t stride = power(kLanes);
        std::uint64_t x[kLanes];
        for (std::size_t l = 0; l < kLanes; ++l) x[l] = (l == 0 ? x_ : x[l - 1]) * kMultiplier & kMask;
        std::size_t i = 0;
        for (; i + kLanes <= count; i += kLanes) {
            for (std::size_t l = 0; l < kLanes; ++l) {
                out[i + l] = static_cast<double>(static_cast<std::int64_t>(x[l])) * kScale;
                x[l] = x[l] * stride & kMask;
            }
        }
        for (std::size_t l = 0; i + l < count; ++l)
            out[i + l] = static_cast<double>(static_cast<std::int64_t>(x[l])) * kScale;
        *this = after(count);
    }
    [[nodiscard]] constexpr std::uint64_t state() const { return x_; }

  private:
    std::uint64_t x_;
};

/// The seed of all benchmarks but EP.
inline constexpr std::uint64_t kSeed = 314159265;

}  // namespace strata::npb
