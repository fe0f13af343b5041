#pragma once

#include "benchmarks/npb/common/vector.hpp"

namespace strata::npb {

/// Eight rows of eight become eight columns: three rounds of exchanges between rows at distance 1, 2 and 4.
inline void transpose(Vec (&v)[8]) {
    constexpr Mask low1 = {0, 8, 2, 10, 4, 12, 6, 14}, high1 = {1, 9, 3, 11, 5, 13, 7, 15};
    constexpr Mask low2 = {0, 1, 8, 9, 4, 5, 12, 13}, high2 = {2, 3, 10, 11, 6, 7, 14, 15};
    constexpr Mask low4 = {0, 1, 2, 3, 8, 9, 10, 11}, high4 = {4, 5, 6, 7, 12, 13, 14, 15};
    const auto round = [&](int distance, const Mask& low, const Mask& high) {
        for (int i = 0; i < 8; ++i) {
            if ((i & distance) != 0) continue;
            const Vec a = v[i], b = v[i + distance];
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

}  // namespace strata::npb
