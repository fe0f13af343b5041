// Eight cells at once along x. Loads and stores of fewer than eight are those of a row's end.
#pragma once

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <array>
#include <bit>

#include "core/graph/declare/view.hpp"
#include "core/lanes/functions.hpp"
#include "core/lanes/lanes.hpp"

namespace strata::flow {

// Beside what this solver calls by the same names.
using strata::abs;
using strata::broadcast;
using strata::exp;
using strata::kLanes;
using strata::Lanes;
using strata::log;
using strata::max;
using strata::min;
using strata::select;
using strata::shuffle;
using strata::sqrt;

/// x^(-1/2) of x >= 0; large where x = 0, and x times it is 0 there. The root and the quotient go through a
/// pipe of their own: beside other work that is faster than Newton's iteration, and every processor rounds
/// them alike.
template <class V>
V over_root(const V& x) {
    return 1.0 / sqrt(max(x, V{} + 1e-300));
}

/// x^(-1/6) of positive, normal numbers, to 4 units in the last place, by iterations of third order
/// from the exponent.
inline Lanes over_sixth_root(const Lanes& x) {
    Lanes y = of_bits(to_ints((7.0 / 6 * (1023 - 0.045) * 0x1p52) - to_doubles(bits_of(x)) * (1.0 / 6)));
    for (int n = 0; n < 3; ++n) {
        const Lanes square = y * y, off = 1.0 - (x * square) * (square * square);
        y += y * (off * ((1.0 / 6) + (7.0 / 72) * off));
    }
    return y;
}

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

/// From and to a row of a field, at index i.
inline Lanes load(const graph::FieldView<const double>& f, int i, int j, int k, int c, int n) {
    return load(graph::pointer_to(f.row(j, k, c) + i, n < kLanes ? n : kLanes), n);
}
inline void store(const graph::FieldView<double>& f, int i, int j, int k, int c, const Lanes& x, int n) {
    store(graph::pointer_to(f.row(j, k, c) + i, n < kLanes ? n : kLanes), x, n);
}

/// f(i, n) for each n <= 8 of the cells from first to last - 1: where f is inlined, loops over whole eights
/// have no branches.
template <class F>
void over_eights(int first, int last, F&& f) {
    int i = first;
    for (; i + kLanes <= last; i += kLanes) f(i, kLanes);
    if (i < last) f(i, last - i);
}

}  // namespace strata::flow
