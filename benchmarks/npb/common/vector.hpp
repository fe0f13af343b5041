// What is done with eight doubles at once.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/lanes/lanes.hpp"

namespace strata::npb {

using strata::kLanes;
using Vec = PlainLanes;
using Bits = std::uint64_t __attribute__((vector_size(64)));
using Mask = std::int64_t __attribute__((vector_size(64)));

[[nodiscard]] inline Vec load(const double* p) {
    Vec v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
inline void store(double* p, Vec v) { std::memcpy(p, &v, sizeof v); }

[[nodiscard]] inline Vec broadcast(double value) { return Vec{} + value; }

/// Lanes first to last of `low` followed by `high`, of which lane i is number i (0 to 15).
#if defined(__clang__)
#define STRATA_NPB_LANES(low, high, ...) __builtin_shufflevector(low, high, __VA_ARGS__)
#else
#define STRATA_NPB_LANES(low, high, ...) __builtin_shuffle(low, high, strata::npb::Mask{__VA_ARGS__})
#endif
/// Of a row whose neighbouring eights are `before`, `here` and `after`: the values one place to the left ...
[[nodiscard]] inline Vec left_of(Vec before, Vec here) {
    return STRATA_NPB_LANES(before, here, 7, 8, 9, 10, 11, 12, 13, 14);
}
/// ... and one place to the right.
[[nodiscard]] inline Vec right_of(Vec here, Vec after) {
    return STRATA_NPB_LANES(here, after, 1, 2, 3, 4, 5, 6, 7, 8);
}
/// Every other lane of sixteen: the even ones, the odd ones.
[[nodiscard]] inline Vec evens(Vec low, Vec high) {
    return STRATA_NPB_LANES(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
}
[[nodiscard]] inline Vec odds(Vec low, Vec high) {
    return STRATA_NPB_LANES(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
}
/// Both in turn, lane by lane: the first eight, the last eight.
[[nodiscard]] inline Vec zip_low(Vec a, Vec b) { return STRATA_NPB_LANES(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
[[nodiscard]] inline Vec zip_high(Vec a, Vec b) { return STRATA_NPB_LANES(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }
#undef STRATA_NPB_LANES

[[nodiscard]] inline Vec sqrt(Vec v) {
    Vec root;
    for (int i = 0; i < kLanes; ++i) root[i] = __builtin_sqrt(v[i]);
    return root;
}

[[nodiscard]] inline double sum(Vec v) {
    return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

[[nodiscard]] inline bool any(Mask mask) {
    std::int64_t found = 0;
    for (int i = 0; i < kLanes; ++i) found |= mask[i];
    return found != 0;
}

}  // namespace strata::npb
