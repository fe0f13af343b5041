// Sixteen floats or eight doubles at once, where a kernel is written once for both and a product and a sum
// may be one rounding: one register of 512 bits, two of 256 or four of 128. Nothing here depends on which:
// each operation is rounded once, a product and a sum too where fma() asks for that, and sums over lanes have
// one order. So results have the same bits on every processor.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace strata::wide {

#if defined(__AVX512F__)
inline constexpr std::size_t kRegister = 64;  // bytes
#elif defined(__AVX__)
inline constexpr std::size_t kRegister = 32;
#else
inline constexpr std::size_t kRegister = 16;
#endif

/// Whole numbers of the size of a Real.
template <class Real>
using Whole = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
template <class Real>
struct Vectors {
    typedef Real PieceOf __attribute__((vector_size(kRegister)));
    typedef Real QuadOf __attribute__((vector_size(4 * sizeof(Real))));
    typedef Whole<Real> WholesOf __attribute__((vector_size(kRegister)));
};
template <class Real>
using Piece = typename Vectors<Real>::PieceOf;
template <class Real>
using Quad = typename Vectors<Real>::QuadOf;

/// Calls each(0) to each(n - 1), with numbers that the compiler knows: an array that is only indexed by such
/// is kept in registers.
template <int n, class Each>
[[gnu::always_inline]] inline void repeat(Each each) {
    [&]<int... k>(std::integer_sequence<int, k...>) __attribute__((always_inline)) {
        (each(std::integral_constant<int, k>{}), ...);
    }
    (std::make_integer_sequence<int, n>{});
}

/// 64 bytes of them. Four in a row are a quad, such as a cluster's four atoms: a Wide has four quads of
/// floats, two of doubles.
template <class Real>
struct Wide {
    static constexpr int kLanes = 64 / sizeof(Real), kQuads = kLanes / 4, kPieces = 64 / kRegister;
    Piece<Real> of[kPieces];

    Wide() = default;
    [[gnu::always_inline]] explicit Wide(Real same) {
        repeat<kPieces>([&](auto k) { of[k] = Piece<Real>{} + same; });
    }
};

template <class Real, class Each>
[[gnu::always_inline]] inline Wide<Real> by_piece(Each each) {
    Wide<Real> r;
    repeat<Wide<Real>::kPieces>([&](auto k) __attribute__((always_inline)) { r.of[k] = each(k); });
    return r;
}
template <class Real>
[[gnu::always_inline]] inline Wide<Real> operator+(const Wide<Real>& a, const Wide<Real>& b) {
    return by_piece<Real>([&](int k) { return a.of[k] + b.of[k]; });
}
template <class Real>
[[gnu::always_inline]] inline Wide<Real> operator-(const Wide<Real>& a, const Wide<Real>& b) {
    return by_piece<Real>([&](int k) { return a.of[k] - b.of[k]; });
}
template <class Real>
[[gnu::always_inline]] inline Wide<Real> operator*(const Wide<Real>& a, const Wide<Real>& b) {
    return by_piece<Real>([&](int k) { return a.of[k] * b.of[k]; });
}

template <class Vector>
[[gnu::always_inline]] inline Vector fma_piece(const Vector& a, const Vector& b, const Vector& c) {
#ifdef __AVX512F__
    if constexpr (std::is_same_v<Vector, Piece<float>>) return (Vector)_mm512_fmadd_ps(a, b, c);
    if constexpr (std::is_same_v<Vector, Piece<double>>) return (Vector)_mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
    if constexpr (std::is_same_v<Vector, Piece<float>>) return (Vector)_mm256_fmadd_ps(a, b, c);
    if constexpr (std::is_same_v<Vector, Piece<double>>) return (Vector)_mm256_fmadd_pd(a, b, c);
#endif
    Vector r;
    for (std::size_t l = 0; l < sizeof(Vector) / sizeof(a[0]); ++l) r[l] = std::fma(a[l], b[l], c[l]);
    return r;
}
/// a b + c, rounded once.
template <class Real>
[[gnu::always_inline]] inline Wide<Real> fma(const Wide<Real>& a, const Wide<Real>& b, const Wide<Real>& c) {
    return by_piece<Real>([&](int k) { return fma_piece(a.of[k], b.of[k], c.of[k]); });
}
template <class Real>
[[gnu::always_inline]] inline Wide<Real> sqrt(const Wide<Real>& a) {
    return by_piece<Real>([&](int k) {
#ifdef __AVX512F__
        if constexpr (sizeof(Real) == 4) return (Piece<Real>)_mm512_sqrt_ps(a.of[k]);
        if constexpr (sizeof(Real) == 8) return (Piece<Real>)_mm512_sqrt_pd(a.of[k]);
#endif
        Piece<Real> r;
        for (std::size_t l = 0; l < kRegister / sizeof(Real); ++l) r[l] = __builtin_sqrt(a.of[k][l]);
        return r;
    });
}

template <class Real>
[[gnu::always_inline]] inline Wide<Real> least(const Wide<Real>& a, const Wide<Real>& b) {
    return by_piece<Real>([&](int k) { return a.of[k] < b.of[k] ? a.of[k] : b.of[k]; });
}

/// Whole numbers in place of floating-point ones.
template <class Real>
struct Wholes {
    typename Vectors<Real>::WholesOf of[Wide<Real>::kPieces];
};
template <class Real>
[[gnu::always_inline]] inline Wholes<Real> wholes(const Wide<Real>& bits) {
    Wholes<Real> r;
    std::memcpy(r.of, bits.of, sizeof r.of);
    return r;
}
template <class Real>
[[gnu::always_inline]] inline Wholes<Real> plus(const Wholes<Real>& a, const Wholes<Real>& b) {
    Wholes<Real> r;
    repeat<Wide<Real>::kPieces>([&](auto k) { r.of[k] = a.of[k] + b.of[k]; });
    return r;
}
template <class Real>
[[gnu::always_inline]] inline Wholes<Real> times(const Wholes<Real>& a, Whole<Real> b) {
    Wholes<Real> r;
    repeat<Wide<Real>::kPieces>([&](auto k) { r.of[k] = a.of[k] * b; });
    return r;
}
/// Of values from 0 to 2^31: without what is behind the point.
[[gnu::always_inline]] inline Wholes<double> truncated(const Wide<double>& x) {
    Wholes<double> r;
#ifdef __AVX512F__
    r.of[0] = (Vectors<double>::WholesOf)_mm512_cvtepi32_epi64(_mm512_cvttpd_epi32(x.of[0]));
#else
    for (int k = 0; k < Wide<double>::kPieces; ++k)
        for (std::size_t l = 0; l < kRegister / sizeof(double); ++l)
            r.of[k][l] = static_cast<std::int32_t>(x.of[k][l]);
#endif
    return r;
}
/// Of values below 2^31.
[[gnu::always_inline]] inline Wide<double> reals(const Wholes<double>& x) {
    Wide<double> r;
#ifdef __AVX512F__
    r.of[0] = _mm512_cvtepi32_pd(_mm512_cvtepi64_epi32((__m512i)x.of[0]));
#else
    for (int k = 0; k < Wide<double>::kPieces; ++k)
        for (std::size_t l = 0; l < kRegister / sizeof(double); ++l)
            r.of[k][l] = static_cast<double>(static_cast<std::int32_t>(x.of[k][l]));
#endif
    return r;
}
/// A column of a table of rows of four: of each lane's row.
[[gnu::always_inline]] inline Wide<double> column(const double* table, const Wholes<double>& row,
                                                  int number) {
    Wide<double> r;
#ifdef __AVX512F__
    r.of[0] = _mm512_i64gather_pd(_mm512_slli_epi64((__m512i)row.of[0], 2), table + number, 8);
#else
    for (int k = 0; k < Wide<double>::kPieces; ++k)
        for (std::size_t l = 0; l < kRegister / sizeof(double); ++l)
            r.of[k][l] = table[4 * row.of[k][l] + number];
#endif
    return r;
}

/// Where square < limit: the value; elsewhere 0.
template <class Real>
[[gnu::always_inline]] inline Wide<Real> within(const Wide<Real>& square, const Wide<Real>& limit,
                                                const Wide<Real>& value) {
    return by_piece<Real>([&](int k) { return square.of[k] < limit.of[k] ? value.of[k] : Piece<Real>{}; });
}
/// A bit for each lane: whether it is below the limit.
[[gnu::always_inline]] inline std::uint16_t lanes_within(const Wide<float>& square,
                                                         const Wide<float>& limit) {
#ifdef __AVX512F__
    return _mm512_cmplt_ps_mask(square.of[0], limit.of[0]);
#else
    std::uint32_t bits = 0;
    constexpr std::size_t kOf = kRegister / sizeof(float);
    for (std::size_t k = 0; k < Wide<float>::kPieces; ++k) {
#ifdef __AVX__
        const __m256 yes = (__m256)(square.of[k] < limit.of[k]);
        bits |= static_cast<std::uint32_t>(_mm256_movemask_ps(yes)) << kOf * k;
#else
        const auto yes = square.of[k] < limit.of[k];
        for (std::size_t l = 0; l < kOf; ++l) bits |= yes[l] != 0 ? 1U << (kOf * k + l) : 0U;
#endif
    }
    return static_cast<std::uint16_t>(bits);
#endif
}

/// 1 / square where square < limit, elsewhere 0. A division of doubles takes longer than all else that is
/// done for a pair: in its place the quotient of floats, and one step of third order (its error: below one
/// unit of the last place).
[[gnu::always_inline]] inline Wide<float> inverse_within(const Wide<float>& square,
                                                         const Wide<float>& limit) {
#ifdef __AVX512F__
    Wide<float> r;
    const __mmask16 yes = _mm512_cmplt_ps_mask(square.of[0], limit.of[0]);
    r.of[0] = _mm512_maskz_div_ps(yes, _mm512_set1_ps(1), square.of[0]);
    return r;
#else
    return within(square, limit, by_piece<float>([&](int k) { return 1.0F / square.of[k]; }));
#endif
}
[[gnu::always_inline]] inline Wide<double> inverse_within(const Wide<double>& square,
                                                          const Wide<double>& limit) {
    const Wide<double> one(1);
#ifdef __AVX512F__
    Wide<double> y, r;
    y.of[0] = _mm512_cvtps_pd(_mm256_div_ps(_mm256_set1_ps(1), _mm512_cvtpd_ps(square.of[0])));
    Wide<double> rest;
    rest.of[0] = _mm512_fnmadd_pd(square.of[0], y.of[0], one.of[0]);
    const Wide<double> more = fma(rest, rest, rest);
    const __mmask8 yes = _mm512_cmplt_pd_mask(square.of[0], limit.of[0]);
    r.of[0] = _mm512_maskz_fmadd_pd(yes, y.of[0], more.of[0], y.of[0]);
    return r;
#else
    using Floats = float __attribute__((vector_size(kRegister / 2)));
    const Wide<double> y = by_piece<double>([&](int k) {
        return __builtin_convertvector(1.0F / __builtin_convertvector(square.of[k], Floats), Piece<double>);
    });
    const Wide<double> rest = fma(square, Wide<double>(0) - y, one);
    return within(square, limit, fma(y, fma(rest, rest, rest), y));
#endif
}

/// p[0] to p[3] in every quad.
template <class Real>
[[gnu::always_inline]] inline Wide<Real> spread(const Real* p) {
#ifdef __AVX512F__
    Wide<Real> r;
    if constexpr (sizeof(Real) == 4) r.of[0] = _mm512_broadcast_f32x4(_mm_load_ps(p));
    if constexpr (sizeof(Real) == 8) r.of[0] = _mm512_broadcast_f64x4(_mm256_load_pd(p));
    return r;
#else
    return by_piece<Real>([&](int k) {
        Piece<Real> r;
        constexpr std::size_t kSame = kRegister / sizeof(Real);
        for (std::size_t l = 0; l < kSame; ++l) r[l] = p[(static_cast<std::size_t>(k) * kSame + l) % 4];
        return r;
    });
#endif
}
/// The first quad is p[0] four times, the second p[1], and so on.
template <class Real>
[[gnu::always_inline]] inline Wide<Real> each(const Real* p) {
    Real lanes[Wide<Real>::kLanes];
    for (int l = 0; l < Wide<Real>::kLanes; ++l) lanes[l] = p[l / 4];
    Wide<Real> r;
    std::memcpy(r.of, lanes, sizeof r.of);
    return r;
}

template <class Real>
[[gnu::always_inline]] inline Quad<Real> quad(const Wide<Real>& a, int q) {
    Quad<Real> r;
    if constexpr (kRegister >= sizeof r) {
        constexpr int kOf = static_cast<int>(kRegister / sizeof r);
        const Piece<Real> piece = a.of[q / kOf];
        std::memcpy(&r, reinterpret_cast<const char*>(&piece) + static_cast<std::size_t>(q % kOf) * sizeof r,
                    sizeof r);
    } else {
        std::memcpy(&r, reinterpret_cast<const char*>(a.of) + static_cast<std::size_t>(q) * sizeof r,
                    sizeof r);
    }
    return r;
}
template <class Real>
[[gnu::always_inline]] inline void take(Real* p, const Quad<Real>& x) {
    Quad<Real> at;
    std::memcpy(&at, p, sizeof at);
    at -= x;
    std::memcpy(p, &at, sizeof at);
}

/// Takes the sum over quads of x from f[0..3], that of y from f[4..7], of z from f[8..11]; what is in
/// f[12..15] afterwards has no meaning.
[[gnu::always_inline]] inline void settle(float* f, const Wide<float>& x, const Wide<float>& y,
                                          const Wide<float>& z) {
#ifdef __AVX512F__
    const __m512 X = x.of[0], Y = y.of[0], Z = z.of[0];
    const __m512 xy = _mm512_add_ps(_mm512_shuffle_f32x4(X, Y, 0x88), _mm512_shuffle_f32x4(X, Y, 0xdd));
    const __m512 zz = _mm512_add_ps(Z, _mm512_shuffle_f32x4(Z, Z, 0xb1));
    const __m512 all = _mm512_add_ps(_mm512_shuffle_f32x4(xy, zz, 0x08), _mm512_shuffle_f32x4(xy, zz, 0xad));
    _mm512_store_ps(f, _mm512_sub_ps(_mm512_load_ps(f), all));
#else
    int at = 0;
    for (const Wide<float>* w : {&x, &y, &z}) {
        const Quad<float> even = quad(*w, 0) + quad(*w, 1), odd = quad(*w, 2) + quad(*w, 3);
        take<float>(f + at, even + odd);
        at += 4;
    }
#endif
}
[[gnu::always_inline]] inline void settle(double* f, const Wide<double>& x, const Wide<double>& y,
                                          const Wide<double>& z) {
#ifdef __AVX512F__
    const __m512d X = x.of[0], Y = y.of[0], Z = z.of[0];
    const __m512d xy = _mm512_add_pd(_mm512_shuffle_f64x2(X, Y, 0x44), _mm512_shuffle_f64x2(X, Y, 0xee));
    const __m256d zz = _mm256_add_pd(_mm512_castpd512_pd256(Z), _mm512_extractf64x4_pd(Z, 1));
    _mm512_store_pd(f, _mm512_sub_pd(_mm512_load_pd(f), xy));
    _mm256_store_pd(f + 8, _mm256_sub_pd(_mm256_load_pd(f + 8), zz));
#else
    int at = 0;
    for (const Wide<double>* w : {&x, &y, &z}) {
        take<double>(f + at, quad(*w, 0) + quad(*w, 1));
        at += 4;
    }
#endif
}
/// Adds the sum of the first quad of x to f[0], of the second to f[1], and so on.
template <class Real>
[[gnu::always_inline]] inline void collect(Real* f, const Wide<Real>& x) {
    Real lanes[Wide<Real>::kLanes];
    std::memcpy(lanes, x.of, sizeof lanes);
    for (int q = 0; q < Wide<Real>::kQuads; ++q)
        f[q] += (lanes[4 * q] + lanes[4 * q + 1]) + (lanes[4 * q + 2] + lanes[4 * q + 3]);
}
/// In double, lane by lane.
template <class Real>
[[gnu::always_inline]] inline double total(const Wide<Real>& x) {
    Real lanes[Wide<Real>::kLanes];
    std::memcpy(lanes, x.of, sizeof lanes);
    double sum = 0;
    for (const Real lane : lanes) sum += static_cast<double>(lane);
    return sum;
}

}  // namespace strata::wide
