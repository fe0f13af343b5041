// Eight cells at once along x. Loads and stores of fewer than eight are those of a row's end.
#pragma once

#include <cstring>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "core/base/lanes.hpp"
#include "core/graph/declare/view.hpp"
#include "solvers/mpm/simd.hpp"

namespace strata::flow {

using mpm::abs;
using mpm::broadcast;
using mpm::exp;
using mpm::log;
using mpm::max;
using mpm::min;
using mpm::select;
using mpm::sqrt;
using strata::kLanes;
using strata::Lanes;

inline double abs(double a) { return a < 0 ? -a : a; }
inline double select(bool yes, double a, double b) { return yes ? a : b; }

/// x^(-1/2) of x >= 0 (large where x = 0), to 2 units in the last place: Newton's iteration from the
/// exponent's half. Processors take three times as long for eight roots or quotients; and x times it is the
/// root.
inline Lanes over_root_guess(const Lanes& x) {
    mpm::LaneInts bits;
    std::memcpy(&bits, &x, sizeof bits);
    bits = 0x5fe6eb50c7b537a9 - (bits >> 1);
    Lanes y;
    std::memcpy(&y, &bits, sizeof y);
    return y;
}
inline Lanes over_root(const Lanes& x) {
    Lanes y = over_root_guess(x);
    const Lanes half = 0.5 * x;
    for (int n = 0; n < 3; ++n) y = y * (1.5 - half * y * y);
    return y + y * (0.5 - half * y * y);
}
inline double over_root(double x) { return 1 / mpm::sqrt(x); }

/// x^(-1/6) of positive, normal numbers, to 4 units in the last place, in the same way.
inline Lanes over_sixth_root(const Lanes& x) {
    mpm::LaneInts bits;
    std::memcpy(&bits, &x, sizeof bits);
    const Lanes guess =
        (7.0 / 6 * (1023 - 0.045) * 0x1p52) - __builtin_convertvector(bits, Lanes) * (1.0 / 6);
    bits = __builtin_convertvector(guess, mpm::LaneInts);
    Lanes y;
    std::memcpy(&y, &bits, sizeof y);
    for (int n = 0; n < 5; ++n) {
        const Lanes square = y * y;
        y += y * ((1.0 / 6) - (1.0 / 6) * x * square * square * square);
    }
    return y;
}

inline Lanes load(const double* p) {
    Lanes x;
    std::memcpy(&x, p, sizeof x);
    return x;
}
inline void store(double* p, const Lanes& x) { std::memcpy(p, &x, sizeof x); }

/// Values p[from] to p[to - 1], 0 <= from <= to <= 8, in their lanes; `rest` in the others.
inline Lanes load(const double* p, int from, int to, const Lanes& rest) {
#ifdef __AVX512F__
    const auto mask = static_cast<__mmask8>((1 << to) - (1 << from));
    return (Lanes)_mm512_mask_loadu_pd((__m512d)rest, mask, p);
#else
    Lanes x = rest;
    for (int l = from; l < to; ++l) x[l] = p[l];
    return x;
#endif
}
inline void store(double* p, int from, int to, const Lanes& x) {
#ifdef __AVX512F__
    _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1 << to) - (1 << from)), (__m512d)x);
#else
    for (int l = from; l < to; ++l) p[l] = x[l];
#endif
}

/// The first n <= 8 values; the other lanes are zero.
inline Lanes load(const double* p, int n) {
    if (n >= kLanes) return load(p);
    return load(p, 0, n, Lanes{});
}
inline void store(double* p, const Lanes& x, int n) {
    if (n >= kLanes) return store(p, x);
    store(p, 0, n, x);
}

/// From and to a row of a field, at index i.
inline Lanes load(const graph::FieldView<const double>& f, int i, int j, int k, int c, int n) {
    return load(graph::pointer_to(f.row(j, k, c) + i, n < kLanes ? n : kLanes), n);
}
inline void store(const graph::FieldView<double>& f, int i, int j, int k, int c, const Lanes& x, int n) {
    store(graph::pointer_to(f.row(j, k, c) + i, n < kLanes ? n : kLanes), x, n);
}

/// Sixteen cells: each operation is done for one eight, then for the other. Formulas at faces are long chains
/// in which a result is waited for; two at a time fill the waits.
struct Wide {
    Lanes a, b;
};
inline constexpr int kWide = 2 * kLanes;
struct WideMask {
    mpm::LaneInts a, b;
};

#define STRATA_FLOW_WIDE(op, Result)                                                             \
    inline Result operator op(const Wide& x, const Wide& y) { return {x.a op y.a, x.b op y.b}; } \
    inline Result operator op(const Wide& x, double y) { return {x.a op y, x.b op y}; }          \
    inline Result operator op(double x, const Wide& y) { return {x op y.a, x op y.b}; }
STRATA_FLOW_WIDE(+, Wide)
STRATA_FLOW_WIDE(-, Wide)
STRATA_FLOW_WIDE(*, Wide)
STRATA_FLOW_WIDE(/, Wide)
STRATA_FLOW_WIDE(<, WideMask)
STRATA_FLOW_WIDE(>, WideMask)
#undef STRATA_FLOW_WIDE
inline Wide operator-(const Wide& x) { return {-x.a, -x.b}; }
inline Wide& operator+=(Wide& x, const Wide& y) { return x = x + y; }
inline Wide& operator-=(Wide& x, const Wide& y) { return x = x - y; }

inline Wide max(const Wide& x, const Wide& y) { return {max(x.a, y.a), max(x.b, y.b)}; }
inline Wide min(const Wide& x, const Wide& y) { return {min(x.a, y.a), min(x.b, y.b)}; }
inline Wide abs(const Wide& x) { return {abs(x.a), abs(x.b)}; }
inline Wide exp(const Wide& x) { return {exp(x.a), exp(x.b)}; }
inline Wide over_sixth_root(const Wide& x) { return {over_sixth_root(x.a), over_sixth_root(x.b)}; }
inline Wide select(const WideMask& yes, const Wide& x, const Wide& y) {
    return {select(yes.a, x.a, y.a), select(yes.b, x.b, y.b)};
}
inline Wide over_root(const Wide& x) {
    Wide y{over_root_guess(x.a), over_root_guess(x.b)};
    const Wide half = 0.5 * x;
    for (int n = 0; n < 3; ++n) y = y * (1.5 - half * y * y);
    return y + y * (0.5 - half * y * y);
}

inline Wide load_wide(const double* p) { return {load(p), load(p + kLanes)}; }
inline void store(double* p, const Wide& x) {
    store(p, x.a);
    store(p + kLanes, x.b);
}
inline Wide load_wide(const graph::FieldView<const double>& f, int i, int j, int k, int c, int n) {
    return {load(f, i, j, k, c, n), load(f, i + kLanes, j, k, c, n > kLanes ? n - kLanes : 0)};
}
inline void store(const graph::FieldView<double>& f, int i, int j, int k, int c, const Wide& x, int n) {
    store(f, i, j, k, c, x.a, n);
    if (n > kLanes) store(f, i + kLanes, j, k, c, x.b, n - kLanes);
}

}  // namespace strata::flow
