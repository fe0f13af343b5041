// Eight particles at once, or four values of each of two: GCC's and Clang's vectors. Arithmetic on them is
// that of doubles, lane by lane, so results do not depend on the processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace strata::mpm {

inline constexpr int kLanes = 8;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));
using LaneInts = std::int64_t __attribute__((vector_size(kLanes * sizeof(double))));

/// The n <= 8 values from `p` on; the lanes after them have `rest`.
inline Lanes load(const double* p, int n, double rest = 0) {
    Lanes x;
    if (n == kLanes) {
        std::memcpy(&x, p, sizeof x);
        return x;
    }
    for (int l = 0; l < kLanes; ++l) x[l] = l < n ? p[l] : rest;
    return x;
}
inline void store(double* p, const Lanes& x, int n) {
    if (n == kLanes) {
        std::memcpy(p, &x, sizeof x);
        return;
    }
    for (int l = 0; l < n; ++l) p[l] = x[l];
}
inline Lanes all(double x) { return Lanes{} + x; }
inline Lanes larger(const Lanes& a, const Lanes& b) { return a > b ? a : b; }
inline Lanes size(const Lanes& a) { return a < 0.0 ? -a : a; }
inline Lanes root(const Lanes& a) {
    double each[kLanes];
    std::memcpy(each, &a, sizeof each);
    for (double& x : each) x = __builtin_sqrt(x);  // one instruction: -fno-math-errno
    Lanes r;
    std::memcpy(&r, each, sizeof r);
    return r;
}
inline double sum(const Lanes& a) {
    double s = 0;
    for (int l = 0; l < kLanes; ++l) s += a[l];
    return s;
}
inline double largest(const Lanes& a) {
    double m = a[0];
    for (int l = 1; l < kLanes; ++l) m = a[l] > m ? a[l] : m;
    return m;
}

/// Whether a comparison holds in the first n lanes.
inline bool holds(const LaneInts& yes, int n) {
    std::int64_t lanes[kLanes], all = -1;
    std::memcpy(lanes, &yes, sizeof lanes);
    for (int l = 0; l < kLanes; ++l) all &= l < n ? lanes[l] : -1;
    return all != 0;
}

/// Lanes of a (0 to 7) and of b (8 to 15), as named.
template <int... lanes>
inline Lanes pick(const Lanes& a, const Lanes& b) {
#if __has_builtin(__builtin_shufflevector)
    return __builtin_shufflevector(a, b, lanes...);
#else  // GCC 11
    return __builtin_shuffle(a, b, LaneInts{lanes...});
#endif
}

/// Of particles 2 p and 2 p + 1: a value each, four times.
template <int p>
inline Lanes spread(const Lanes& x) {
    constexpr int e = 2 * p, o = 2 * p + 1;
    return pick<e, e, e, e, o, o, o, o>(x, x);
}
/// Four values of each of eight particles, turned around: pairs[p] has those of particle 2 p, then of 2 p
/// + 1.
struct Pairs {
    Lanes of[4];
    Pairs(const Lanes& a, const Lanes& b, const Lanes& c, const Lanes& d) {
        const Lanes ab = pick<0, 8, 1, 9, 2, 10, 3, 11>(a, b);
        const Lanes cd = pick<0, 8, 1, 9, 2, 10, 3, 11>(c, d);
        const Lanes AB = pick<4, 12, 5, 13, 6, 14, 7, 15>(a, b);
        const Lanes CD = pick<4, 12, 5, 13, 6, 14, 7, 15>(c, d);
        of[0] = pick<0, 1, 8, 9, 2, 3, 10, 11>(ab, cd);
        of[1] = pick<4, 5, 12, 13, 6, 7, 14, 15>(ab, cd);
        of[2] = pick<0, 1, 8, 9, 2, 3, 10, 11>(AB, CD);
        of[3] = pick<4, 5, 12, 13, 6, 7, 14, 15>(AB, CD);
    }
};

/// Natural logarithm of positive, normal numbers, to 1 unit in the last place: x = 2^e m with m between
/// 1/sqrt(2) and sqrt(2), and log m = 2 artanh((m - 1) / (m + 1)) by its series in s^2 up to s^21.
inline Lanes log(const Lanes& x) {
    LaneInts bits;
    std::memcpy(&bits, &x, sizeof bits);
    const LaneInts raised = bits + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    const LaneInts e = (raised >> 52) - 1023;
    const LaneInts mantissa = bits - (e << 52);
    Lanes m;
    std::memcpy(&m, &mantissa, sizeof m);
    const Lanes s = (m - 1.0) / (m + 1.0), z = s * s;
    Lanes series = all(1.0 / 21);
    for (int n = 19; n >= 3; n -= 2) series = series * z + 1.0 / n;
    return __builtin_convertvector(e, Lanes) * 0x1.62e42fefa39efp-1 + 2.0 * (s + s * z * series);
}

/// Exponential function of numbers between -700 and 700 (beyond: as if they were these), to 2 units in the
/// last place: x = k ln 2 + r with r up to ln(2)/2, and the series of exp r up to r^13.
inline Lanes exp(const Lanes& given) {
    const Lanes floor = given > -700.0 ? given : all(-700), x = floor < 700.0 ? floor : all(700);
    const Lanes shifted = x * 0x1.71547652b82fep0 + 0x1.8p52;  // its last bits are the nearest k
    const Lanes k = shifted - 0x1.8p52;
    const Lanes r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
    Lanes series = all(1.0 / 6227020800);
    double factorial = 479001600;
    for (int n = 12; n >= 0; --n) {
        series = series * r + 1.0 / factorial;
        if (n > 0) factorial /= n;
    }
    LaneInts bits, up;
    std::memcpy(&bits, &series, sizeof bits);
    std::memcpy(&up, &shifted, sizeof up);
    bits += up << 52;
    std::memcpy(&series, &bits, sizeof series);
    return series;
}

}  // namespace strata::mpm
