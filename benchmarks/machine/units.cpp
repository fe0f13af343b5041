#include "benchmarks/machine/units.hpp"

#include <array>
#include <cmath>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace strata::bench::machine_measures {
namespace {

// ISO C++ does not let a compiler fuse a multiplication and an addition by itself; where the processor has
// the instruction it is asked for by name.
#if defined(__AVX512F__)
using Vector = __m512d;
inline Vector step(Vector x, Vector f, Vector a) { return _mm512_fmadd_pd(x, f, a); }
constexpr bool kFused = true;
#elif defined(__FMA__)
using Vector = __m256d;
inline Vector step(Vector x, Vector f, Vector a) { return _mm256_fmadd_pd(x, f, a); }
constexpr bool kFused = true;
#elif defined(__aarch64__)
using Vector = float64x2_t;
inline Vector step(Vector x, Vector f, Vector a) { return vfmaq_f64(a, x, f); }
constexpr bool kFused = true;
#else
typedef double Vector __attribute__((vector_size(kLanes * sizeof(double))));
inline Vector step(Vector x, Vector f, Vector a) { return x * f + a; }
constexpr bool kFused = false;
#endif
static_assert(sizeof(Vector) == kLanes * sizeof(double));

Vector all_lanes(double x) {
    std::array<double, kLanes> lanes;
    lanes.fill(x);
    Vector v;
    std::memcpy(&v, lanes.data(), sizeof v);
    return v;
}

#if defined(__AVX512F__)
constexpr std::size_t kLoadBytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t kLoadBytes = 32;
#else
constexpr std::size_t kLoadBytes = 16;
#endif
typedef std::uint64_t Words __attribute__((vector_size(kLoadBytes)));

}  // namespace

void multiply_add(std::span<double, kStates> states, double f, double a, std::size_t iterations) noexcept {
    const Vector factor = all_lanes(f), addend = all_lanes(a);
    Vector x[kChains];  // std::array would drop the alignment from its template argument
    std::memcpy(x, states.data(), states.size_bytes());
    for (std::size_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 12
        for (std::size_t k = 0; k < kChains; ++k) x[k] = step(x[k], factor, addend);
    }
    std::memcpy(states.data(), x, states.size_bytes());
}

double multiply_add_reference(double state, double f, double a, std::size_t iterations) noexcept {
    for (std::size_t i = 0; i < iterations; ++i) state = kFused ? std::fma(state, f, a) : state * f + a;
    return state;
}

std::uint64_t load_all(std::span<const std::uint64_t> words) noexcept {
    constexpr std::size_t kParts = 8, kStep = kParts * kLoadBytes / sizeof(std::uint64_t);
    const auto* p = reinterpret_cast<const Words*>(words.data());
    const auto* const end = p + words.size() / kStep * kParts;
    Words all[kParts] = {};
    for (; p != end; p += kParts) {
#pragma GCC unroll 8
        for (std::size_t k = 0; k < kParts; ++k) all[k] ^= p[k];
    }
    Words sum{};
    for (const Words& part : all) sum ^= part;
    std::uint64_t result = 0;
    for (std::size_t lane = 0; lane < kLoadBytes / sizeof(std::uint64_t); ++lane) result ^= sum[lane];
    return result;
}

}  // namespace strata::bench::machine_measures
