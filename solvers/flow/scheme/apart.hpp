// Eight values that lie apart in memory, as lanes.
#pragma once

#include <cstddef>

#include "solvers/flow/scheme/lanes.hpp"
#include "solvers/flow/scheme/patch.hpp"

namespace strata::flow {

/// The first n <= 8 of them, each `stride` further in memory; the other lanes are zero.
#ifdef __AVX512F__
inline Lanes load_apart(const double* p, std::ptrdiff_t stride, int n) {
    const __m512i at =
        _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(stride));
    return (Lanes)_mm512_mask_i64gather_pd(_mm512_setzero_pd(), static_cast<__mmask8>((1U << n) - 1), at, p,
                                           8);
}
inline void store_apart(double* p, std::ptrdiff_t stride, const Lanes& x, int n) {
    const __m512i at =
        _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(stride));
    _mm512_mask_i64scatter_pd(p, static_cast<__mmask8>((1U << n) - 1), at, (__m512d)x, 8);
}
#else
// Functions of their own: kernels have many of these at the ends of lines, and loops over lanes would be most
// of their code.
[[gnu::noinline]] inline Lanes load_apart(const double* p, std::ptrdiff_t stride, int n) {
    double each[kLanes] = {};
    for (int l = 0; l < n; ++l) each[l] = p[l * stride];
    return load(each);
}
[[gnu::noinline]] inline void store_apart(double* p, std::ptrdiff_t stride, const Lanes& x, int n) {
    double each[kLanes];
    store(each, x);
    for (int l = 0; l < n; ++l) p[l * stride] = each[l];
}
#endif

/// `cells` values from `at` on along x, in n rows side by side along y: where those of the first row lie. A
/// checking build checks them all.
template <class T>
T* apart_pointer(const FieldView<T>& f, const Int3& at, int c, int n, int cells = 1) {
    if constexpr (graph::kChecked)
        for (int l = 1; l < n; ++l) (void)graph::pointer_to(f.row(at[1] + l, at[2], c) + at[0], cells);
    return graph::pointer_to(f.row(at[1], at[2], c) + at[0], cells);
}

}  // namespace strata::flow
