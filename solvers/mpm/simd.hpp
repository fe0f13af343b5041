// Eight particles at once, or four values of each of two. Arithmetic on them is that of doubles, lane by
// lane, so results do not depend on the processor.
#pragma once

#ifdef STRATA_MPM_LANES  // other lanes: those of tests, which count operations
#include STRATA_MPM_LANES
#else
#include "solvers/mpm/lanes.hpp"
#endif

namespace strata::mpm {

inline Real max(Real a, Real b) { return a > b ? a : b; }
inline Real min(Real a, Real b) { return a < b ? a : b; }
inline Lanes max(const Lanes& a, const Lanes& b) { return select(a > b, a, b); }
inline Lanes min(const Lanes& a, const Lanes& b) { return select(a < b, a, b); }
inline Real sum(const Lanes& a) {
    Real s = 0;
    for (int l = 0; l < kLanes; ++l) s += a[l];
    return s;
}
inline Real largest(const Lanes& a) {
    Real m = a[0];
    for (int l = 1; l < kLanes; ++l) m = max(a[l], m);
    return m;
}

/// Of particles 2 p and 2 p + 1: a value each, four times.
template <int p>
inline Lanes spread(const Lanes& x) {
    constexpr int e = 2 * p, o = 2 * p + 1;
    return shuffle<e, e, e, e, o, o, o, o>(x, x);
}
/// Four values of each of eight particles, turned around: pairs[p] has those of particle 2 p, then of 2 p
/// + 1.
struct Pairs {
    Lanes of[4];
    Pairs(const Lanes& a, const Lanes& b, const Lanes& c, const Lanes& d) {
        const Lanes ab = shuffle<0, 8, 1, 9, 2, 10, 3, 11>(a, b);
        const Lanes cd = shuffle<0, 8, 1, 9, 2, 10, 3, 11>(c, d);
        const Lanes AB = shuffle<4, 12, 5, 13, 6, 14, 7, 15>(a, b);
        const Lanes CD = shuffle<4, 12, 5, 13, 6, 14, 7, 15>(c, d);
        of[0] = shuffle<0, 1, 8, 9, 2, 3, 10, 11>(ab, cd);
        of[1] = shuffle<4, 5, 12, 13, 6, 7, 14, 15>(ab, cd);
        of[2] = shuffle<0, 1, 8, 9, 2, 3, 10, 11>(AB, CD);
        of[3] = shuffle<4, 5, 12, 13, 6, 7, 14, 15>(AB, CD);
    }
};

/// Natural logarithm of positive, normal numbers, to 1 unit in the last place: x = 2^e m, and log m = 2
/// artanh((m
/// - 1) / (m + 1)) by its series in s^2 up to s^21.
inline Lanes log(const Lanes& x) {
    const auto [e, m] = frexp(x);
    const Lanes s = (m - 1.0) / (m + 1.0), z = s * s;
    Lanes series = broadcast(1.0 / 21);
    for (int n = 19; n >= 3; n -= 2) series = series * z + 1.0 / n;
    return e * 0x1.62e42fefa39efp-1 + 2.0 * (s + s * z * series);
}

/// Exponential function of numbers between -700 and 700 (beyond: as if they were these), to 2 units in the
/// last place: x = k ln 2 + r with r up to ln(2)/2, and the series of exp r up to r^13.
inline Lanes exp(const Lanes& given) {
    const Lanes x = min(max(given, broadcast(-700)), broadcast(700));
    const Lanes shifted = x * 0x1.71547652b82fep0 + 0x1.8p52;  // its last bits are the nearest k
    const Lanes k = shifted - 0x1.8p52;
    const Lanes r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
    Lanes series = broadcast(1.0 / 6227020800);
    double factorial = 479001600;
    for (int n = 12; n >= 0; --n) {
        series = series * r + 1.0 / factorial;
        if (n > 0) factorial /= n;
    }
    return ldexp(series, shifted);
}

}  // namespace strata::mpm
