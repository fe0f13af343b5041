// Eight values that lie apart in memory, as lanes.
#pragma once

#include <cstddef>

#include "solvers/flow/scheme/lanes.hpp"

namespace strata::flow {

/// The first n <= 8 of them, each `stride` further in memory; the other lanes are zero.
inline Lanes load_apart(const double* p, std::ptrdiff_t stride, int n) {
#ifdef __AVX512F__
    const __m512i at =
        _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(stride));
    return (Lanes)_mm512_mask_i64gather_pd(_mm512_setzero_pd(), static_cast<__mmask8>((1U << n) - 1), at, p,
                                           8);
#else
    Lanes x{};
    for (int l = 0; l < n; ++l) x[l] = p[l * stride];
    return x;
#endif
}
inline void store_apart(double* p, std::ptrdiff_t stride, const Lanes& x, int n) {
#ifdef __AVX512F__
    const __m512i at =
        _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(stride));
    _mm512_mask_i64scatter_pd(p, static_cast<__mmask8>((1U << n) - 1), at, (__m512d)x, 8);
#else
    for (int l = 0; l < n; ++l) p[l * stride] = x[l];
#endif
}

}  // namespace strata::flow
