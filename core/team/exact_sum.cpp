#include "core/team/exact_sum.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace strata::team {
namespace {

constexpr int kBits = 32;
constexpr std::int64_t kDigitMask = (std::int64_t{1} << kBits) - 1;
constexpr int kMantissaBits = 52, kLowestExponent = -1074;
constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << kMantissaBits) - 1;
constexpr unsigned kSpecialExponent = 0x7ff;

}  // namespace

void ExactSum::add(double x) noexcept {
    const auto image = std::bit_cast<std::uint64_t>(x);
    const auto exponent = static_cast<unsigned>(image >> kMantissaBits) & kSpecialExponent;
    const bool negative = (image >> 63) != 0;
    std::uint64_t mantissa = image & kMantissaMask;
    if (exponent == kSpecialExponent) {
        if (mantissa != 0)
            nan_ = true;
        else
            (negative ? minus_infinity_ : plus_infinity_) = true;
        return;
    }
    // A subnormal has the exponent of the smallest normal and no hidden bit.
    unsigned shift = 0;
    if (exponent != 0) {
        mantissa |= std::uint64_t{1} << kMantissaBits;
        shift = exponent - 1;
    }
    if (additions_ == kMostAdditions) carry();
    ++additions_;
    // The mantissa, shifted by less than a digit, covers three digits.
    const std::size_t at = shift / kBits;
    const unsigned within = shift % kBits;
    const std::uint64_t low = mantissa << within;
    const std::uint64_t high = within == 0 ? 0 : mantissa >> (64 - within);
    const std::int64_t sign = negative ? -1 : 1;
    digits_[at] += sign * static_cast<std::int64_t>(low & static_cast<std::uint64_t>(kDigitMask));
    digits_[at + 1] += sign * static_cast<std::int64_t>(low >> kBits);
    digits_[at + 2] += sign * static_cast<std::int64_t>(high);
}

/// Afterwards all digits but the highest are in [0, 2^32): a number has one such form.
void ExactSum::carry() noexcept {
    std::int64_t rest = 0;
    for (std::size_t i = 0; i + 1 < kDigits; ++i) {
        const std::int64_t digit = digits_[i] + rest;
        digits_[i] = digit & kDigitMask;
        rest = digit >> kBits;  // arithmetic: rounds down, also below zero (C++20)
    }
    digits_[kDigits - 1] += rest;
    additions_ = 1;  // the digits are now as small as after one addition
}

void ExactSum::add(const ExactSum& other) noexcept {
    ExactSum theirs = other;
    theirs.carry();
    if (additions_ == kMostAdditions) carry();
    for (std::size_t i = 0; i < kDigits; ++i) digits_[i] += theirs.digits_[i];
    ++additions_;
    nan_ = nan_ || other.nan_;
    plus_infinity_ = plus_infinity_ || other.plus_infinity_;
    minus_infinity_ = minus_infinity_ || other.minus_infinity_;
}

double ExactSum::value() const noexcept {
    if (nan_ || (plus_infinity_ && minus_infinity_)) return std::numeric_limits<double>::quiet_NaN();
    if (plus_infinity_) return std::numeric_limits<double>::infinity();
    if (minus_infinity_) return -std::numeric_limits<double>::infinity();
    ExactSum sum = *this;
    sum.carry();
    const bool negative = sum.digits_[kDigits - 1] < 0;
    if (negative) {
        for (std::int64_t& digit : sum.digits_) digit = -digit;
        sum.carry();
    }
    std::size_t top = kDigits - 1;
    while (top > 0 && sum.digits_[top] == 0) --top;
    const auto digit = [&sum](std::size_t i) { return static_cast<std::uint64_t>(sum.digits_[i]); };
    // The highest 64 bits of the number, and whether anything is below them.
    const int top_bits = std::bit_width(digit(top));
    const int length = static_cast<int>(top) * kBits + top_bits;
    if (length <= kMantissaBits + 1) {
        const std::uint64_t whole = (top > 0 ? digit(1) << kBits : 0) | digit(0);
        const double exact = std::ldexp(static_cast<double>(whole), kLowestExponent);
        return negative ? -exact : exact;
    }
    // 64 bits from the top: two digits and a part of a third. (length > 53, so there are two.)
    std::uint64_t head = (digit(top) << kBits) | digit(top - 1);
    int head_bits = top_bits + kBits;
    std::uint64_t below = 0;
    if (top >= 2 && head_bits < 64) {
        const int take = 64 - head_bits;
        head = (head << take) | (digit(top - 2) >> (kBits - take));
        below = digit(top - 2) & ((std::uint64_t{1} << (kBits - take)) - 1);
        head_bits = 64;
    } else if (top >= 2) {
        below = digit(top - 2);
    }
    for (std::size_t i = 0; i + 2 < top; ++i) below |= digit(i);
    const int dropped = head_bits - (kMantissaBits + 1);
    std::uint64_t mantissa = head >> dropped;
    const std::uint64_t tail = head & ((std::uint64_t{1} << dropped) - 1),
                        half = std::uint64_t{1} << (dropped - 1);
    if (tail > half || (tail == half && (below != 0 || (mantissa & 1) != 0))) ++mantissa;
    const double rounded =
        std::ldexp(static_cast<double>(mantissa), length - (kMantissaBits + 1) + kLowestExponent);
    return negative ? -rounded : rounded;
}

}  // namespace strata::team
