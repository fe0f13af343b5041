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

/// Of particles 2 p and 2 p + 1: a value each, four times.
template <int p>
inline Lanes spread(const Lanes& x) {
    constexpr int e = 2 * p, o = 2 * p + 1;
    return __builtin_shufflevector(x, x, e, e, e, e, o, o, o, o);
}
/// Four values of each of eight particles, turned around: pairs[p] has those of particle 2 p, then of 2 p
/// + 1.
struct Pairs {
    Lanes of[4];
    Pairs(const Lanes& a, const Lanes& b, const Lanes& c, const Lanes& d) {
        const Lanes ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
        const Lanes cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 2, 10, 3, 11);
        const Lanes AB = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
        const Lanes CD = __builtin_shufflevector(c, d, 4, 12, 5, 13, 6, 14, 7, 15);
        of[0] = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 2, 3, 10, 11);
        of[1] = __builtin_shufflevector(ab, cd, 4, 5, 12, 13, 6, 7, 14, 15);
        of[2] = __builtin_shufflevector(AB, CD, 0, 1, 8, 9, 2, 3, 10, 11);
        of[3] = __builtin_shufflevector(AB, CD, 4, 5, 12, 13, 6, 7, 14, 15);
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

}  // namespace strata::mpm
