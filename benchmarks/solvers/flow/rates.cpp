#include "benchmarks/solvers/flow/rates.hpp"

#if defined(__FMA__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "core/base/shortest.hpp"
#include "solvers/flow/scheme/lanes.hpp"

namespace strata::flow {
namespace {

constexpr int kChains = 12, kRounds = 20000;

/// Seconds of one round: `step` of each of the chains, which do not wait for each other.
template <class F>
double round_time(double seconds, const F& step) {
    Register factor = Register{} + 0.999, term = Register{} + 1e-3;
    asm volatile("" : "+m"(factor), "+m"(term));  // not to be known when compiled
    const double best = shortest(seconds, [&] {
        Register x[kChains];
        for (int c = 0; c < kChains; ++c) x[c] = Register{} + 1.0 + 0.1 * c;
        for (int n = 0; n < kRounds; ++n)
            for (int c = 0; c < kChains; ++c) step(c, x[c], factor, term);
        for (auto& v : x) asm volatile("" ::"m"(v));
    });
    return best / kRounds;
}

template <class F>
double rate(double seconds, int operations, const F& step) {
    return operations * kChains * kRegisterLanes / round_time(seconds, step);
}

Register product_and_sum(const Register& x, const Register& y, const Register& z) {
#if defined(__AVX512F__)
    return (Register)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z);
#elif defined(__AVX2__) && defined(__FMA__)
    return (Register)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
#elif defined(__aarch64__)
    return vfmaq_f64(z, x, y);
#else
    return x * y + z;
#endif
}

// Of twelve chains these have quotients beside the others' products and sums.
constexpr int kQuotients = 2;

}  // namespace

Rates measured_rates(double seconds) {
    const double each = seconds / 6;
    Rates r;
    r.sums = rate(each, 1, [](int, Register& x, const Register&, const Register& t) { x = x + t; });
    r.products = rate(each, 1, [](int, Register& x, const Register& f, const Register&) { x = x * f; });
    r.both = rate(each, 2, [](int, Register& x, const Register& f, const Register& t) { x = x * f + t; });
    r.quotients = rate(each, 1, [](int, Register& x, const Register& f, const Register&) { x = f / x; });
    r.roots = rate(each, 1, [](int, Register& x, const Register&, const Register&) { x = sqrt(x); });
    r.fused = rate(each, 2, [](int, Register& x, const Register& f, const Register& t) {
        x = product_and_sum(x, f, t);
    });
    return r;
}

double quotients_beside(double seconds) {
    const auto quotients = [](int c, Register& x, const Register& f, const Register&) {
        if (c < kQuotients) x = f / x;
    };
    const auto others = [](int c, Register& x, const Register& f, const Register& t) {
        if (c >= kQuotients) x = (x * f + t) * f + t;
    };
    const auto all = [&](int c, Register& x, const Register& f, const Register& t) {
        quotients(c, x, f, t), others(c, x, f, t);
    };
    const double each = seconds / 3;
    return round_time(each, all) / std::max(round_time(each, quotients), round_time(each, others));
}

}  // namespace strata::flow
