// Stores that go past the caches. A cached store reads the line that it overwrites first; where what is
// written will not be read again before it has left the caches, that reading is for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace strata {

/// Doubles of a cache line of 64 bytes.
inline constexpr std::size_t kLineDoubles = 8;

[[nodiscard]] inline bool begins_a_line(const double* at) {
    return reinterpret_cast<std::uintptr_t>(at) % (kLineDoubles * sizeof(double)) == 0;
}

/// A line of eight doubles, past the caches where the processor has such stores (x86); `to` begins a line. It
/// becomes visible to others after settle_stores() only.
inline void store_line_past_caches(double* to, const double* from) {
#if defined(__AVX512F__)
    _mm512_stream_pd(to, _mm512_loadu_pd(from));
#elif defined(__AVX__)
    for (std::size_t k = 0; k < kLineDoubles; k += 4) _mm256_stream_pd(to + k, _mm256_loadu_pd(from + k));
#elif defined(__x86_64__)
    for (std::size_t k = 0; k < kLineDoubles; k += 2) _mm_stream_pd(to + k, _mm_loadu_pd(from + k));
#else
    std::memcpy(to, from, kLineDoubles * sizeof(double));
#endif
}

/// Before others are told: what was stored past the caches is there for whoever sees a later store.
inline void settle_stores() {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

}  // namespace strata
