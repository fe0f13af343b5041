// Eight particles at once: how they are kept, and what is done to them lane by lane. All else that is made of
// these (simd.hpp, and the kernels) is arithmetic. tests/solvers/counted_lanes.hpp stands in their place
// where operations are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/lanes.hpp"

namespace strata::mpm {

using strata::kLanes;
using strata::Lanes;
using LaneInts = std::int64_t __attribute__((vector_size(kLanes * sizeof(double))));
using LaneBits = std::uint64_t __attribute__((vector_size(kLanes * sizeof(double))));
/// A number outside lanes whose arithmetic is part of a kernel's work.
using Real = double;

/// How far ahead of what is loaded or stored memory is asked for: tasks go through up to forty arrays of a
/// patch at once, more than a processor follows by itself.
inline constexpr int kAhead = 4 * kLanes;
/// Where that is; behind an array's end there may be nothing, which is asked for in vain.
inline const void* ahead(const double* p) {
    return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(p) + kAhead * sizeof(double));
}

/// The n <= 8 values from `p` on; the lanes after them have `rest`.
inline Lanes load(const double* p, int n, double rest = 0) {
    __builtin_prefetch(ahead(p));
    Lanes x;
    if (n == kLanes) {
        std::memcpy(&x, p, sizeof x);
        return x;
    }
    for (int l = 0; l < kLanes; ++l) x[l] = l < n ? p[l] : rest;
    return x;
}
inline void store(double* p, const Lanes& x, int n) {
    __builtin_prefetch(ahead(p), 1);
    if (n == kLanes) {
        std::memcpy(p, &x, sizeof x);
        return;
    }
    for (int l = 0; l < n; ++l) p[l] = x[l];
}
inline Lanes broadcast(double x) { return Lanes{} + x; }
/// Lane by lane: a where the comparison holds, else b.
inline Lanes select(const LaneInts& yes, const Lanes& a, const Lanes& b) { return yes ? a : b; }
inline Lanes abs(const Lanes& a) { return a < 0.0 ? -a : a; }
inline Real sqrt(Real a) { return __builtin_sqrt(a); }
inline Lanes sqrt(const Lanes& a) {
    double each[kLanes];
    std::memcpy(each, &a, sizeof each);
    for (double& x : each) x = __builtin_sqrt(x);  // one instruction: -fno-math-errno
    Lanes r;
    std::memcpy(&r, each, sizeof r);
    return r;
}

/// Whether a comparison holds in the first n lanes.
inline bool all_of(const LaneInts& yes, int n) {
    std::int64_t lanes[kLanes], all = -1;
    std::memcpy(lanes, &yes, sizeof lanes);
    for (int l = 0; l < kLanes; ++l) all &= l < n ? lanes[l] : -1;
    return all != 0;
}

/// Lanes of a (numbers 0 to 7) and of b (8 to 15), in the order of the numbers.
template <int... lanes>
inline Lanes shuffle(const Lanes& a, const Lanes& b) {
#if __has_builtin(__builtin_shufflevector)
    return __builtin_shufflevector(a, b, lanes...);
#else  // GCC 11
    return __builtin_shuffle(a, b, LaneInts{lanes...});
#endif
}

/// Exponent and mantissa of positive, normal numbers, x = 2^e m; other than std::frexp's, m lies between
/// 1/sqrt(2) and sqrt(2).
struct Parts {
    Lanes e, m;
};
inline Parts frexp(const Lanes& x) {
    LaneInts bits;
    std::memcpy(&bits, &x, sizeof bits);
    const LaneInts raised = bits + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    const LaneInts e = (raised >> 52) - 1023;
    // Of a negative number, as an unstable step has them, the difference wraps around.
    const LaneBits mantissa = (LaneBits)bits - ((LaneBits)e << 52);
    Lanes m;
    std::memcpy(&m, &mantissa, sizeof m);
    return {__builtin_convertvector(e, Lanes), m};
}
/// 2^k x; k is an integer in the last bits of `shifted`.
inline Lanes ldexp(const Lanes& x, const Lanes& shifted) {
    LaneInts bits, up;
    std::memcpy(&bits, &x, sizeof bits);
    std::memcpy(&up, &shifted, sizeof up);
    bits += up << 52;
    Lanes r;
    std::memcpy(&r, &bits, sizeof r);
    return r;
}

}  // namespace strata::mpm
