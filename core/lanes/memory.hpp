// Lanes from memory and back: all eight, some of them as at a row's end, values that lie apart, and arrays of
// which more is asked for in advance.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "core/lanes/lanes.hpp"

namespace strata {

/// Eight values in a row.
inline Lanes load(const double* p) { return read_lanes<Lanes>(p); }
inline void store(double* p, const Lanes& x) { write_lanes(p, x); }

/// Some of eight lanes: bit l is set where lane l is meant.
struct SomeLanes {
    unsigned bits = 0;
};
/// Lanes from to to - 1, 0 <= from <= to <= 8.
inline SomeLanes some_lanes(int from, int to) { return {(1U << to) - (1U << from)}; }
/// The same back: first, and one beyond the last; of none 0 and 0.
inline std::array<int, 2> range_of(SomeLanes some) {
    return {some.bits == 0 ? 0 : std::countr_zero(some.bits), static_cast<int>(std::bit_width(some.bits))};
}

#if defined(__AVX2__) && !defined(__AVX512F__)
namespace detail {
using RegisterMask = long long __attribute__((vector_size(kRegisterBytes)));
/// Of the lowest bits, those of a register: each as all bits of its lane.
inline RegisterMask mask_of(unsigned bits) {
    constexpr RegisterMask kEach{1, 2, 4, 8};
    return (RegisterMask)(((RegisterMask{} + static_cast<long long>(bits)) & kEach) == kEach);
}
}  // namespace detail
#endif

/// Values p[l] of some lanes; `rest` in the others. Nothing else is read.
inline Lanes load(const double* p, SomeLanes some, const Lanes& rest) {
#ifdef __AVX512F__
    return (Lanes)_mm512_mask_loadu_pd((__m512d)rest, static_cast<__mmask8>(some.bits), p);
#elif defined(__AVX2__)
    const auto part = [](const double* from, unsigned bits, const Register& others) {
        const detail::RegisterMask mask = detail::mask_of(bits);
        const Register there = __builtin_ia32_maskloadpd256(reinterpret_cast<const Register*>(from), mask);
        return select((RegisterInts)mask, there, others);
    };
    return {part(p, some.bits, rest.a), part(p + kRegisterLanes, some.bits >> kRegisterLanes, rest.b)};
#else
    if (some.bits == (1U << kLanes) - 1) return load(p);
    double each[kLanes];
    store(each, rest);
    for (int l = 0; l < kLanes; ++l)  // a loop that the compiler turns into masks
        if ((some.bits >> l & 1U) != 0) each[l] = p[l];
    return load(each);
#endif
}
inline void store(double* p, SomeLanes some, const Lanes& x) {
#ifdef __AVX512F__
    _mm512_mask_storeu_pd(p, static_cast<__mmask8>(some.bits), (__m512d)x);
#elif defined(__AVX2__)
    const auto part = [](double* to, unsigned bits, const Register& values) {
        __builtin_ia32_maskstorepd256(reinterpret_cast<Register*>(to), detail::mask_of(bits), values);
    };
    part(p, some.bits, x.a), part(p + kRegisterLanes, some.bits >> kRegisterLanes, x.b);
#else
    double each[kLanes];
    store(each, x);
    for (int l = 0; l < kLanes; ++l)
        if ((some.bits >> l & 1U) != 0) p[l] = each[l];
#endif
}
inline Lanes load(const double* p, int from, int to, const Lanes& rest) {
    return load(p, some_lanes(from, to), rest);
}

/// The first n <= 8 values; the other lanes are zero.
inline Lanes load(const double* p, int n) {
    if (n >= kLanes) return load(p);
    return load(p, 0, n, Lanes{});
}
inline void store(double* p, const Lanes& x, int n) {
    if (n >= kLanes) return store(p, x);
    store(p, some_lanes(0, n), x);
}

/// The first n <= 8 values again, without a branch where the processor has masks: for kernels in which n
/// changes from one call to the next.
inline Lanes load_masked(const double* p, int n) {
#ifdef __AVX512F__
    return (Lanes)_mm512_maskz_loadu_pd(static_cast<__mmask8>((1U << n) - 1), p);
#else
    return load(p, n);
#endif
}
inline void store_masked(double* p, const Lanes& x, int n) {
#ifdef __AVX512F__
    _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1U << n) - 1), (__m512d)x);
#else
    store(p, x, n);
#endif
}

/// The first n <= 8 values that lie `stride` apart in memory; the other lanes are zero.
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

/// f(i, n) for each n <= 8 of the values from first to last - 1: where f is inlined, loops over whole eights
/// have no branches.
template <class F>
void over_eights(int first, int last, F&& f) {
    int i = first;
    for (; i + kLanes <= last; i += kLanes) f(i, kLanes);
    if (i < last) f(i, last - i);
}

}  // namespace strata
