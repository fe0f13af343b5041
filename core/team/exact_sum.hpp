// A sum of doubles that does not depend on their order or on their division among members.
//
// Every double is a whole number of 2^-1074. The accumulator holds such a number in digits of 32 bits, wide
// enough for any sum, each digit in a 64-bit integer so that carries need to be passed on only once in 2^30
// additions (Kulisch, "Computer arithmetic and validity", 2008, ch. 8; the digits as in Neal, "Fast exact
// summation using small and large superaccumulators", arXiv:1505.05571). Integers add in any order; only the
// final value is rounded, once, to the nearest double.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace strata::team {

class ExactSum {
  public:
    ExactSum() = default;

    void add(double x) noexcept;
    void add(std::span<const double> values) noexcept {
        for (const double x : values) add(x);
    }
    /// Adds another sum: the same as adding all its values.
    void add(const ExactSum& other) noexcept;

    /// The exact sum, rounded to the nearest double (ties to even); +0 for no values. NaN if any value was
    /// NaN, or if infinities of both signs were among them. Else an infinity if one was among them, or if the
    /// sum is too large for a double.
    [[nodiscard]] double value() const noexcept;

  private:
    // 2^-1074 to 2^1024 are 2098 bits; 64 more let 2^63 of the largest be added.
    static constexpr std::size_t kDigits = (2098 + 64 + 31) / 32;
    static constexpr std::uint32_t kMostAdditions = 1U << 30;

    void carry() noexcept;

    std::array<std::int64_t, kDigits> digits_{};
    std::uint32_t additions_ = 0;  // since carries were passed on
    bool nan_ = false, plus_infinity_ = false, minus_infinity_ = false;
};

}  // namespace strata::team
