// Eight rows of eight values as columns, whose lanes are the rows, and back. Rows lie `step` apart in memory,
// which need not be where lines of the caches begin: halves of rows cross them less often than whole ones,
// and the processor joins halves while it loads them.
#pragma once

#include <cstddef>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "core/lanes/lanes.hpp"

namespace strata {

/// Four values at p, and four at q.
inline Lanes load_halves(const double* p, const double* q) {
#ifdef __AVX512F__
    return (Lanes)_mm512_maskz_insertf64x4(0xff, _mm512_castpd256_pd512(_mm256_loadu_pd(p)),
                                           _mm256_loadu_pd(q), 1);
#else
    using Half = decltype(Lanes::a);
    return {read_lanes<Half>(p), read_lanes<Half>(q)};
#endif
}
inline void store_halves(double* p, double* q, const Lanes& x) {
#ifdef __AVX512F__
    _mm256_storeu_pd(p, _mm512_maskz_extractf64x4_pd(0xff, (__m512d)x, 0));
    _mm256_storeu_pd(q, _mm512_maskz_extractf64x4_pd(0xff, (__m512d)x, 1));
#else
    using Half = decltype(Lanes::a);
    write_lanes<Half>(p, x.a);
    write_lanes<Half>(q, x.b);
#endif
}

/// Both halves of a matrix of 4 x 4 become their transposes.
inline void transpose_halves(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
    const Lanes ab = shuffle<0, 8, 2, 10, 4, 12, 6, 14>(a, b), AB = shuffle<1, 9, 3, 11, 5, 13, 7, 15>(a, b);
    const Lanes cd = shuffle<0, 8, 2, 10, 4, 12, 6, 14>(c, d), CD = shuffle<1, 9, 3, 11, 5, 13, 7, 15>(c, d);
    a = shuffle<0, 1, 8, 9, 4, 5, 12, 13>(ab, cd);
    b = shuffle<0, 1, 8, 9, 4, 5, 12, 13>(AB, CD);
    c = shuffle<2, 3, 10, 11, 6, 7, 14, 15>(ab, cd);
    d = shuffle<2, 3, 10, 11, 6, 7, 14, 15>(AB, CD);
}

/// Column n of the rows at p, p + step, ... is a[n].
inline void load_columns(const double* p, std::ptrdiff_t step, Lanes (&a)[kLanes]) {
    for (int n = 0; n < kLanes / 2; ++n) {
        a[n] = load_halves(p + n * step, p + (n + 4) * step);
        a[n + 4] = load_halves(p + n * step + 4, p + (n + 4) * step + 4);
    }
    transpose_halves(a[0], a[1], a[2], a[3]);
    transpose_halves(a[4], a[5], a[6], a[7]);
}
inline void store_columns(double* p, std::ptrdiff_t step, Lanes (&a)[kLanes]) {
    transpose_halves(a[0], a[1], a[2], a[3]);
    transpose_halves(a[4], a[5], a[6], a[7]);
    for (int n = 0; n < kLanes / 2; ++n) {
        store_halves(p + n * step, p + (n + 4) * step, a[n]);
        store_halves(p + n * step + 4, p + (n + 4) * step + 4, a[n + 4]);
    }
}

/// The same of rows that are in registers: row r becomes column r, and column c row c.
inline void transpose(Lanes (&a)[kLanes]) {
    for (int n = 0; n < kLanes / 2; ++n) {
        const Lanes x = a[n], y = a[n + 4];
        a[n] = shuffle<0, 1, 2, 3, 8, 9, 10, 11>(x, y);
        a[n + 4] = shuffle<4, 5, 6, 7, 12, 13, 14, 15>(x, y);
    }
    transpose_halves(a[0], a[1], a[2], a[3]);
    transpose_halves(a[4], a[5], a[6], a[7]);
}

}  // namespace strata
