// Eight doubles as one of the compiler's vectors, with `?:` as numbers have it: for kernels that are written
// once for numbers and for lanes, and for formulas that are short. Where the processor's registers are
// smaller and formulas long the compiler takes these apart lane by lane: see registers.hpp, and lanes.hpp
// for what is better then. Where registers have 512 bits both are the same type; the functions are in a
// namespace of their own.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/lanes/lanes.hpp"

namespace strata {

using PlainLanes = double __attribute__((vector_size(kLanes * sizeof(double))));
/// What comparisons give: -1 where one holds, else 0; and their bits without a sign.
using PlainInts = std::int64_t __attribute__((vector_size(kLanes * sizeof(double))));
using PlainBits = std::uint64_t __attribute__((vector_size(kLanes * sizeof(double))));

}  // namespace strata

namespace strata::plain {

[[nodiscard]] inline PlainLanes load(const double* p) {
    PlainLanes v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
inline void store(double* p, PlainLanes v) { std::memcpy(p, &v, sizeof v); }

[[nodiscard]] inline PlainLanes broadcast(double value) { return PlainLanes{} + value; }

/// Lanes first to last of `low` followed by `high`, of which lane i is number i (0 to 15).
#if defined(__clang__)
#define STRATA_PLAIN_LANES(low, high, ...) __builtin_shufflevector(low, high, __VA_ARGS__)
#else
#define STRATA_PLAIN_LANES(low, high, ...) __builtin_shuffle(low, high, strata::PlainInts{__VA_ARGS__})
#endif
/// Of a row whose neighbouring eights are `before`, `here` and `after`: the values one place to the left ...
[[nodiscard]] inline PlainLanes left_of(PlainLanes before, PlainLanes here) {
    return STRATA_PLAIN_LANES(before, here, 7, 8, 9, 10, 11, 12, 13, 14);
}
/// ... and one place to the right.
[[nodiscard]] inline PlainLanes right_of(PlainLanes here, PlainLanes after) {
    return STRATA_PLAIN_LANES(here, after, 1, 2, 3, 4, 5, 6, 7, 8);
}
/// Every other lane of sixteen: the even ones, the odd ones.
[[nodiscard]] inline PlainLanes evens(PlainLanes low, PlainLanes high) {
    return STRATA_PLAIN_LANES(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
}
[[nodiscard]] inline PlainLanes odds(PlainLanes low, PlainLanes high) {
    return STRATA_PLAIN_LANES(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
}
/// Both in turn, lane by lane: the first eight, the last eight.
[[nodiscard]] inline PlainLanes zip_low(PlainLanes a, PlainLanes b) {
    return STRATA_PLAIN_LANES(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
[[nodiscard]] inline PlainLanes zip_high(PlainLanes a, PlainLanes b) {
    return STRATA_PLAIN_LANES(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
#undef STRATA_PLAIN_LANES

[[nodiscard]] inline PlainLanes sqrt(PlainLanes v) {
    PlainLanes root;
    for (int i = 0; i < kLanes; ++i) root[i] = __builtin_sqrt(v[i]);
    return root;
}

/// Their sum, always in this order: lanes that are four apart, then these two by two.
[[nodiscard]] inline double sum(PlainLanes v) {
    return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

[[nodiscard]] inline bool any(PlainInts mask) {
    std::int64_t found = 0;
    for (int i = 0; i < kLanes; ++i) found |= mask[i];
    return found != 0;
}

/// Eight rows of eight become eight columns: three rounds of exchanges between rows at distance 1, 2 and 4.
inline void transpose(PlainLanes (&v)[8]) {
    constexpr PlainInts low1 = {0, 8, 2, 10, 4, 12, 6, 14}, high1 = {1, 9, 3, 11, 5, 13, 7, 15};
    constexpr PlainInts low2 = {0, 1, 8, 9, 4, 5, 12, 13}, high2 = {2, 3, 10, 11, 6, 7, 14, 15};
    constexpr PlainInts low4 = {0, 1, 2, 3, 8, 9, 10, 11}, high4 = {4, 5, 6, 7, 12, 13, 14, 15};
    const auto round = [&](int distance, const PlainInts& low, const PlainInts& high) {
        for (int i = 0; i < 8; ++i) {
            if ((i & distance) != 0) continue;
            const PlainLanes a = v[i], b = v[i + distance];
#ifdef __clang__
            for (int l = 0; l < 8; ++l) {
                v[i][l] = low[l] < 8 ? a[low[l]] : b[low[l] - 8];
                v[i + distance][l] = high[l] < 8 ? a[high[l]] : b[high[l] - 8];
            }
#else
            v[i] = __builtin_shuffle(a, b, low);
            v[i + distance] = __builtin_shuffle(a, b, high);
#endif
        }
    };
    round(1, low1, high1);
    round(2, low2, high2);
    round(4, low4, high4);
}

}  // namespace strata::plain
