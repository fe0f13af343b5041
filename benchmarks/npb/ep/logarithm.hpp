#pragma once

#include "benchmarks/npb/common/vector.hpp"

namespace strata::npb {

/// ln x for normal positive x, to about 1 ulp. With x = m 2^e, m in [sqrt(1/2), sqrt(2)), and
/// s = (m - 1) / (m + 1): ln m = 2 artanh s = 2 (s + s^3/3 + s^5/5 + ...), |s| < 0.1716, whose first term
/// left out, 2 s^23 / 23, is below 3e-19 s.
[[nodiscard]] inline Vec log(Vec x) {
    constexpr std::uint64_t kMantissa = 0x000fffffffffffffU, kRootHalf = 0x3fe6a09e667f3bcdU;
    Bits bits;
    std::memcpy(&bits, &x, sizeof bits);
    // As integers: what is taken from x's exponent so that the rest lies in [sqrt(1/2), sqrt(2)).
    const Bits above = bits - kRootHalf;
    Mask exponent;
    std::memcpy(&exponent, &above, sizeof exponent);
    exponent >>= 52;
    const Bits rest = (above & kMantissa) + kRootHalf;
    Vec m;
    std::memcpy(&m, &rest, sizeof m);
    const Vec e = __builtin_convertvector(exponent, Vec);
    const Vec f = m - 1.0, s = f / (f + 2.0), z = s * s;
    Vec series = broadcast(2.0 / 21);
    for (int n = 19; n >= 3; n -= 2) series = series * z + 2.0 / n;
    // ln m = f - s (f - z series ...) keeps the bits that 2 s alone would lose: 2 s = f - s f.
    constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
    return e * kLn2High + (f - (s * (f - z * series) - e * kLn2Low));
}

}  // namespace strata::npb
