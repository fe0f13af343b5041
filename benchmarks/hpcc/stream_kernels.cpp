#include "benchmarks/hpcc/stream_kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace strata::bench::hpcc {
namespace {

// The widest vector of the processor compiled for, with its streaming store. Elsewhere than on x86 compilers
// offer no portable one, and stores are cached.
#if defined(__AVX512F__)
using Vector = __m512d;
inline void stream(double* p, Vector v) { _mm512_stream_pd(p, v); }
inline Vector load(const double* p) { return _mm512_load_pd(p); }
#elif defined(__AVX__)
using Vector = __m256d;
inline void stream(double* p, Vector v) { _mm256_stream_pd(p, v); }
inline Vector load(const double* p) { return _mm256_load_pd(p); }
#elif defined(__x86_64__)
using Vector = __m128d;
inline void stream(double* p, Vector v) { _mm_stream_pd(p, v); }
inline Vector load(const double* p) { return _mm_load_pd(p); }
#endif

#if defined(__x86_64__)
constexpr bool kStreams = true;
constexpr std::size_t kWidth = sizeof(Vector) / sizeof(double);

/// target[i] = value(i), past the caches; `vector(i)` gives the elements from i on.
template <class V, class S>
inline void stream_all(double* target, std::size_t n, V&& vector, S&& scalar) {
    std::size_t i = 0;
    for (; i + kLineDoubles <= n; i += kLineDoubles) {
        for (std::size_t k = 0; k < kLineDoubles; k += kWidth) stream(target + i + k, vector(i + k));
    }
    for (; i < n; ++i) target[i] = scalar(i);
    _mm_sfence();  // streaming stores are weakly ordered: the next kernel reads what this one wrote
}
#else
constexpr bool kStreams = false;
#endif

template <class S>
inline void store_all(double* __restrict target, std::size_t n, S&& scalar) {
    for (std::size_t i = 0; i < n; ++i) target[i] = scalar(i);
}

}  // namespace

bool has_streaming_stores() noexcept { return kStreams; }

void copy(double* __restrict c, const double* __restrict a, std::size_t n, Stores stores) noexcept {
    const auto scalar = [=](std::size_t i) { return a[i]; };
#if defined(__x86_64__)
    if (stores == Stores::streaming)
        return stream_all(
            c, n, [=](std::size_t i) { return load(a + i); }, scalar);
#endif
    (void)stores;
    store_all(c, n, scalar);
}

void scale(double* __restrict b, const double* __restrict c, double q, std::size_t n,
           Stores stores) noexcept {
    const auto scalar = [=](std::size_t i) { return q * c[i]; };
#if defined(__x86_64__)
    if (stores == Stores::streaming)
        return stream_all(
            b, n, [=](std::size_t i) { return q * load(c + i); }, scalar);
#endif
    (void)stores;
    store_all(b, n, scalar);
}

void add(double* __restrict c, const double* __restrict a, const double* __restrict b, std::size_t n,
         Stores stores) noexcept {
    const auto scalar = [=](std::size_t i) { return a[i] + b[i]; };
#if defined(__x86_64__)
    if (stores == Stores::streaming)
        return stream_all(
            c, n, [=](std::size_t i) { return load(a + i) + load(b + i); }, scalar);
#endif
    (void)stores;
    store_all(c, n, scalar);
}

void triad(double* __restrict a, const double* __restrict b, const double* __restrict c, double q,
           std::size_t n, Stores stores) noexcept {
    const auto scalar = [=](std::size_t i) { return b[i] + q * c[i]; };
#if defined(__x86_64__)
    if (stores == Stores::streaming)
        return stream_all(
            a, n, [=](std::size_t i) { return load(b + i) + q * load(c + i); }, scalar);
#endif
    (void)stores;
    store_all(a, n, scalar);
}

}  // namespace strata::bench::hpcc
