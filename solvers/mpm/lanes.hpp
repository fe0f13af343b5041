// Eight particles at once: how they are kept, and what is done to them lane by lane. All else that is made of
// these (simd.hpp, and the kernels) is arithmetic. tests/solvers/counted_lanes.hpp stands in their place
// where operations are counted.
#pragma once

#include <cstdint>

#include "core/lanes/lanes.hpp"

namespace strata::mpm {

using strata::abs;
using strata::all_of;
using strata::broadcast;
using strata::kLanes;
using strata::LaneInts;
using strata::Lanes;
using strata::select;
using strata::shuffle;
using strata::sqrt;
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
    if (n == kLanes) return read_lanes<Lanes>(p);
    double each[kLanes];
    for (int l = 0; l < kLanes; ++l) each[l] = l < n ? p[l] : rest;
    return read_lanes<Lanes>(each);
}
inline void store(double* p, const Lanes& x, int n) {
    __builtin_prefetch(ahead(p), 1);
    if (n == kLanes) {
        write_lanes(p, x);
        return;
    }
    double each[kLanes];
    write_lanes(each, x);
    for (int l = 0; l < n; ++l) p[l] = each[l];
}
inline Real sqrt(Real a) { return __builtin_sqrt(a); }

/// Exponent and mantissa of positive, normal numbers, x = 2^e m; other than std::frexp's, m lies between
/// 1/sqrt(2) and sqrt(2).
struct Parts {
    Lanes e, m;
};
inline Parts frexp(const Lanes& x) {
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

}  // namespace strata::mpm
