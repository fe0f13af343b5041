#include "benchmarks/integrity/lanes.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace strata::integrity {
namespace {

#define STRATA_AVX512 __attribute__((target("avx512f,avx512dq")))

template <class T>
STRATA_AVX512 __m512i load(const T& lanes) {
    return _mm512_loadu_si512(reinterpret_cast<const __m512i*>(lanes.data()));
}
template <class T>
STRATA_AVX512 void store(T& lanes, __m512i value) {
    _mm512_storeu_si512(reinterpret_cast<__m512i*>(lanes.data()), value);
}

STRATA_AVX512 void integers(IntegerLanes<8>& lanes, std::uint32_t iterations) {
    const __m512i next = _mm512_set_epi64(0, 7, 6, 5, 4, 3, 2, 1);
    __m512i x[kChains], sum[kChains], factor[kChains], addend[kChains];
    for (int c = 0; c < kChains; ++c) {
        x[c] = load(lanes.x[c]);
        sum[c] = load(lanes.sum[c]);
        factor[c] = load(lanes.factor[c]);
        addend[c] = load(lanes.addend[c]);
    }
    for (std::uint32_t n = 0; n < iterations; ++n)
        for (int c = 0; c < kChains; ++c) {
            __m512i y = _mm512_add_epi64(_mm512_mullo_epi64(x[c], factor[c]), addend[c]);
            y = _mm512_xor_si512(y, _mm512_srli_epi64(y, 29));
            x[c] = _mm512_rol_epi64(y, 17);
            sum[c] = _mm512_add_epi64(sum[c], _mm512_permutexvar_epi64(next, x[c]));
        }
    for (int c = 0; c < kChains; ++c) {
        store(lanes.x[c], x[c]);
        store(lanes.sum[c], sum[c]);
    }
}

STRATA_AVX512 void doubles(RealLanes<double, std::uint64_t, 8>& lanes, std::uint32_t iterations) {
    __m512d x[kChains], rate[kChains];
    __m512i bits[kChains];
    for (int c = 0; c < kChains; ++c) {
        x[c] = _mm512_loadu_pd(lanes.x[c].data());
        rate[c] = _mm512_loadu_pd(lanes.rate[c].data());
        bits[c] = load(lanes.bits[c]);
    }
    for (std::uint32_t n = 0; n < iterations; ++n)
        for (int c = 0; c < kChains; ++c) {
            const __m512i found = _mm512_xor_si512(_mm512_castpd_si512(_mm512_sqrt_pd(x[c])),
                                                   _mm512_castpd_si512(_mm512_div_pd(rate[c], x[c])));
            bits[c] = _mm512_add_epi64(bits[c], found);
            x[c] = _mm512_mul_pd(rate[c], _mm512_fnmadd_pd(x[c], x[c], x[c]));
        }
    for (int c = 0; c < kChains; ++c) {
        _mm512_storeu_pd(lanes.x[c].data(), x[c]);
        store(lanes.bits[c], bits[c]);
    }
}

STRATA_AVX512 void floats(RealLanes<float, std::uint32_t, 16>& lanes, std::uint32_t iterations) {
    __m512 x[kChains], rate[kChains];
    __m512i bits[kChains];
    for (int c = 0; c < kChains; ++c) {
        x[c] = _mm512_loadu_ps(lanes.x[c].data());
        rate[c] = _mm512_loadu_ps(lanes.rate[c].data());
        bits[c] = load(lanes.bits[c]);
    }
    for (std::uint32_t n = 0; n < iterations; ++n)
        for (int c = 0; c < kChains; ++c) {
            const __m512i found = _mm512_xor_si512(_mm512_castps_si512(_mm512_sqrt_ps(x[c])),
                                                   _mm512_castps_si512(_mm512_div_ps(rate[c], x[c])));
            bits[c] = _mm512_add_epi32(bits[c], found);
            x[c] = _mm512_mul_ps(rate[c], _mm512_fnmadd_ps(x[c], x[c], x[c]));
        }
    for (int c = 0; c < kChains; ++c) {
        _mm512_storeu_ps(lanes.x[c].data(), x[c]);
        store(lanes.bits[c], bits[c]);
    }
}

}  // namespace

std::string avx512_missing() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
               ? ""
               : "this processor has no AVX-512";
}

bool avx512(const Round& round, Trace& trace) {
    auto& lanes = *reinterpret_cast<AllLanes512*>(round.scratch.data());
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
std::string avx512_missing() { return "AVX-512 is of x86-64 processors"; }
bool avx512(const Round&, Trace&) { return false; }
}  // namespace strata::integrity
#endif
