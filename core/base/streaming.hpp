// Stores that go past the caches. A cached store reads the line that it overwrites first; where what is
// written will not be read again before it has left the caches, that reading is for nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace strata {

/// to[i] = from[i], past the caches where the processor has such stores (x86), for the lines of 64 bytes that
/// lie in `to` as a whole. They become visible to others after settle_stores() only.
inline void store_past_caches(double* to, const double* from, std::size_t count) {
#if defined(__x86_64__)
    constexpr std::size_t line = 64 / sizeof(double);
    const std::size_t skew = reinterpret_cast<std::uintptr_t>(to) / sizeof(double) % line;
    std::size_t i = std::min(count, skew == 0 ? 0 : line - skew);
    std::memcpy(to, from, i * sizeof(double));
    for (; i + line <= count; i += line) {
#if defined(__AVX512F__)
        _mm512_stream_pd(to + i, _mm512_loadu_pd(from + i));
#elif defined(__AVX__)
        for (std::size_t k = 0; k < line; k += 4) _mm256_stream_pd(to + i + k, _mm256_loadu_pd(from + i + k));
#else
        for (std::size_t k = 0; k < line; k += 2) _mm_stream_pd(to + i + k, _mm_loadu_pd(from + i + k));
#endif
    }
    std::memcpy(to + i, from + i, (count - i) * sizeof(double));
#else
    std::memcpy(to, from, count * sizeof(double));
#endif
}

/// Before others are told: what was stored past the caches is there for whoever sees a later store.
inline void settle_stores() {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

}  // namespace strata
