// Functions of eight doubles at once, made of sums, products and quotients: no processor computes them
// otherwise.
#pragma once

#include <cstdint>

#include "core/lanes/lanes.hpp"

namespace strata {

/// Exponent and mantissa of positive, normal numbers, x = 2^e m; other than std::frexp's, m lies between
/// 1/sqrt(2) and sqrt(2).
struct LaneParts {
    Lanes e, m;
};
inline LaneParts frexp(const Lanes& x) {
    // Of a negative number, as an unstable step has them, both parts are of no use.
    const LaneInts raised = bits_of(x) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    // The exponent as the last bits of a double of which 2^52 + 1023 is taken.
    const Lanes e = of_bits(shifted_down(raised, 52) | 0x4330000000000000) - (0x1p52 + 1023);
    return {e, of_bits((raised & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd)};
}
/// 2^k x; k is an integer in the last bits of `shifted`.
inline Lanes ldexp(const Lanes& x, const Lanes& shifted) {
    return of_bits(bits_of(x) + (bits_of(shifted) << 52));
}

namespace detail {

// Of lanes V of any kind, since tests have some that count operations: what is called of them stands beside
// them.

template <class V>
[[nodiscard]] V log_of(const V& x) {
    const auto [e, m] = frexp(x);
    const V s = (m - 1.0) / (m + 1.0), z = s * s;
    V series = broadcast(1.0 / 21, x);
    for (int n = 19; n >= 3; n -= 2) series = series * z + 1.0 / n;
    return e * 0x1.62e42fefa39efp-1 + 2.0 * (s + s * z * series);
}

template <class V>
[[nodiscard]] V exp_of(const V& given) {
    const V x = min(max(given, broadcast(-700, given)), broadcast(700, given));
    const V shifted = x * 0x1.71547652b82fep0 + 0x1.8p52;  // its last bits are the nearest k
    const V k = shifted - 0x1.8p52;
    const V r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
    V series = broadcast(1.0 / 6227020800, given);
    double factorial = 479001600;
    for (int n = 12; n >= 0; --n) {
        series = series * r + 1.0 / factorial;
        if (n > 0) factorial /= n;
    }
    return ldexp(series, shifted);
}

}  // namespace detail

/// Natural logarithm of positive, normal numbers, to 2 units in the last place: x = 2^e m, and log m = 2
/// artanh((m - 1) / (m + 1)) by its series in s^2 up to s^21.
[[nodiscard]] inline Lanes log(const Lanes& x) { return detail::log_of(x); }

/// Exponential function of numbers between -700 and 700 (beyond: as if they were these), to 2 units in the
/// last place: x = k ln 2 + r with r up to ln(2)/2, where k ln 2 is taken off in two parts (Cody and Waite,
/// Software Manual for the Elementary Functions, Prentice-Hall 1980, chapter 6), and the series of exp r up
/// to r^13.
[[nodiscard]] inline Lanes exp(const Lanes& x) { return detail::exp_of(x); }

/// x^(-1/2) of x >= 0; large where x = 0, and x times it is 0 there. The root and the quotient go through a
/// pipe of their own: beside other work that is faster than Newton's iteration, and every processor rounds
/// them alike.
template <class V>
V over_root(const V& x) {
    return 1.0 / sqrt(max(x, V{} + 1e-300));
}

/// x^(-1/6) of positive, normal numbers, to 4 units in the last place. The bits of x as a number are about
/// its logarithm, so -1/6 times that gives a first y; then, three times, the first terms of x^(-1/6) = y (1 -
/// r)^(-1/6) = y (1 + r / 6 + 7 r^2 / 72 + ...) with r = 1 - x y^6.
inline Lanes over_sixth_root(const Lanes& x) {
    Lanes y = of_bits(to_ints((7.0 / 6 * (1023 - 0.045) * 0x1p52) - to_doubles(bits_of(x)) * (1.0 / 6)));
    for (int n = 0; n < 3; ++n) {
        const Lanes square = y * y, off = 1.0 - (x * square) * (square * square);
        y += y * (off * ((1.0 / 6) + (7.0 / 72) * off));
    }
    return y;
}

}  // namespace strata
