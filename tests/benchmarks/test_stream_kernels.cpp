// STREAM's kernels: every element, for both kinds of stores and for lengths that are no multiple of a vector.
#include <functional>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/random.hpp"
#include "benchmarks/hpcc/stream_kernels.hpp"
#include "tests/catch.hpp"

using namespace strata::bench;
using namespace strata::bench::hpcc;

namespace {

constexpr double kQ = 3.0, kUntouched = -7.0;

/// Runs a kernel on n elements and compares each with what it must be; the ones after the last must stay.
void check(std::size_t n, const std::function<void(double*, const double*, const double*)>& kernel,
           const std::function<double(double, double)>& expected) {
    const Array<double> target(n + 64), first(n + 64), second(n + 64);
    for (std::size_t i = 0; i < target.size(); ++i) {
        target[i] = kUntouched;
        first[i] = random_double(i, 1);
        second[i] = random_double(i, 2);
    }
    kernel(target.data(), first.data(), second.data());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i)
        wrong += target[i] != Approx(expected(first[i], second[i])).epsilon(1e-15);
    for (std::size_t i = n; i < target.size(); ++i) wrong += target[i] != kUntouched;
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("each kernel computes what STREAM says, on every element and on no other") {
    for (const Stores stores : {Stores::cached, Stores::streaming}) {
        if (stores == Stores::streaming && !has_streaming_stores()) continue;
        for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8},
                                    std::size_t{1000}, std::size_t{4099}}) {
            check(
                n, [&](double* t, const double* a, const double*) { copy(t, a, n, stores); },
                [](double a, double) { return a; });
            check(
                n, [&](double* t, const double* a, const double*) { scale(t, a, kQ, n, stores); },
                [](double a, double) { return kQ * a; });
            check(
                n, [&](double* t, const double* a, const double* b) { add(t, a, b, n, stores); },
                [](double a, double b) { return a + b; });
            check(
                n, [&](double* t, const double* a, const double* b) { triad(t, a, b, kQ, n, stores); },
                [](double a, double b) { return a + kQ * b; });
        }
    }
}
