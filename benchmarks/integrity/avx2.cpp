#include "benchmarks/integrity/lanes.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace strata::integrity {
namespace {

#define STRATA_AVX2 __attribute__((target("avx2,fma")))

template <class T>
STRATA_AVX2 __m256i load(const T& lanes) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes.data()));
}
template <class T>
STRATA_AVX2 void store(T& lanes, __m256i value) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes.data()), value);
}

/// The low 64 bits of products: AVX2 multiplies 32 by 32 bits.
STRATA_AVX2 inline __m256i multiply(__m256i a, __m256i b) {
    const __m256i low = _mm256_mul_epu32(a, b);
    const __m256i one = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), b),
                  other = _mm256_mul_epu32(a, _mm256_srli_epi64(b, 32));
    return _mm256_add_epi64(low, _mm256_slli_epi64(_mm256_add_epi64(one, other), 32));
}

STRATA_AVX2 void integers(IntegerLanes<4>& lanes, std::uint32_t iterations) {
    __m256i x[kChains], sum[kChains], factor[kChains], addend[kChains];
    for (int c = 0; c < kChains; ++c) {
        x[c] = load(lanes.x[c]);
        sum[c] = load(lanes.sum[c]);
        factor[c] = load(lanes.factor[c]);
        addend[c] = load(lanes.addend[c]);
    }
    for (std::uint32_t n = 0; n < iterations; ++n)
        for (int c = 0; c < kChains; ++c) {
            __m256i y = _mm256_add_epi64(multiply(x[c], factor[c]), addend[c]);
            y = _mm256_xor_si256(y, _mm256_srli_epi64(y, 29));
            x[c] = _mm256_or_si256(_mm256_slli_epi64(y, 17), _mm256_srli_epi64(y, 47));
            sum[c] = _mm256_add_epi64(sum[c], _mm256_permute4x64_epi64(x[c], 0b00111001));
        }
    for (int c = 0; c < kChains; ++c) {
        store(lanes.x[c], x[c]);
        store(lanes.sum[c], sum[c]);
    }
}

STRATA_AVX2 void doubles(RealLanes<double, std::uint64_t, 4>& lanes, std::uint32_t iterations) {
    __m256d x[kChains], rate[kChains];
    __m256i bits[kChains];
    for (int c = 0; c < kChains; ++c) {
        x[c] = _mm256_loadu_pd(lanes.x[c].data());
        rate[c] = _mm256_loadu_pd(lanes.rate[c].data());
        bits[c] = load(lanes.bits[c]);
    }
    for (std::uint32_t n = 0; n < iterations; ++n)
        for (int c = 0; c < kChains; ++c) {
            const __m256i found = _mm256_xor_si256(_mm256_castpd_si256(_mm256_sqrt_pd(x[c])),
                                                   _mm256_castpd_si256(_mm256_div_pd(rate[c], x[c])));
            bits[c] = _mm256_add_epi64(bits[c], found);
            x[c] = _mm256_mul_pd(rate[c], _mm256_fnmadd_pd(x[c], x[c], x[c]));
        }
    for (int c = 0; c < kChains; ++c) {
        _mm256_storeu_pd(lanes.x[c].data(), x[c]);
        store(lanes.bits[c], bits[c]);
    }
}

STRATA_AVX2 void floats(RealLanes<float, std::uint32_t, 8>& lanes, std::uint32_t iterations) {
    __m256 x[kChains], rate[kChains];
    __m256i bits[kChains];
    for (int c = 0; c < kChains; ++c) {
        x[c] = _mm256_loadu_ps(lanes.x[c].data());
        rate[c] = _mm256_loadu_ps(lanes.rate[c].data());
        bits[c] = load(lanes.bits[c]);
    }
    for (std::uint32_t n = 0; n < iterations; ++n)
        for (int c = 0; c < kChains; ++c) {
            const __m256i found = _mm256_xor_si256(_mm256_castps_si256(_mm256_sqrt_ps(x[c])),
                                                   _mm256_castps_si256(_mm256_div_ps(rate[c], x[c])));
            bits[c] = _mm256_add_epi32(bits[c], found);
            x[c] = _mm256_mul_ps(rate[c], _mm256_fnmadd_ps(x[c], x[c], x[c]));
        }
    for (int c = 0; c < kChains; ++c) {
        _mm256_storeu_ps(lanes.x[c].data(), x[c]);
        store(lanes.bits[c], bits[c]);
    }
}

}  // namespace

std::string avx2_missing() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? ""
                                                                           : "this processor has no AVX2";
}

bool avx2(const Round& round, Trace& trace) {
    auto& lanes = *reinterpret_cast<AllLanes256*>(round.scratch.data());
    first_lanes(round.seed, lanes);
    integers(lanes.integers, kIntegerIterations);
    doubles(lanes.doubles, kRealIterations);
    floats(lanes.floats, kRealIterations);
    add_lanes(lanes, trace);
    return true;
}

}  // namespace strata::integrity
#else
namespace strata::integrity {
std::string avx2_missing() { return "AVX2 is of x86-64 processors"; }
bool avx2(const Round&, Trace&) { return false; }
}  // namespace strata::integrity
#endif
