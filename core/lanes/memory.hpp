// Lanes from memory and back, where there are fewer than eight values at a row's end.
#pragma once

#include <cstdint>

#include "core/lanes/lanes.hpp"

namespace strata {

/// How far ahead of what is loaded or stored memory is asked for: a kernel that goes through dozens of arrays
/// at once has more than a processor follows by itself.
inline constexpr int kAhead = 4 * kLanes;
/// Where that is; behind an array's end there may be nothing, which is asked for in vain.
inline const void* ahead(const double* p) {
    return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(p) + kAhead * sizeof(double));
}
/// The n <= 8 values from `p` on, and what lies ahead asked for; the lanes after them have `rest`.
inline Lanes load_ahead(const double* p, int n, double rest = 0) {
    __builtin_prefetch(ahead(p));
    if (n == kLanes) return read_lanes<Lanes>(p);
    double each[kLanes];
    for (int l = 0; l < kLanes; ++l) each[l] = l < n ? p[l] : rest;
    return read_lanes<Lanes>(each);
}
inline void store_ahead(double* p, const Lanes& x, int n) {
    __builtin_prefetch(ahead(p), 1);
    if (n == kLanes) {
        write_lanes(p, x);
        return;
    }
    double each[kLanes];
    write_lanes(each, x);
    for (int l = 0; l < n; ++l) p[l] = each[l];
}

}  // namespace strata
