// Functions of eight doubles at once beside those of the C library, and the bits that all processors find.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/lanes/functions.hpp"
#include "tests/catch.hpp"
#include "tests/core/eight.hpp"

using namespace strata;
using namespace strata::tests;

namespace {

/// How many units in the last place of `should` lie between.
double apart(double is, double should) {
    const double next = std::nextafter(std::abs(should), std::numeric_limits<double>::infinity());
    return std::abs(is - should) / (next - std::abs(should));
}

/// The largest of that, of so many numbers with logarithms from `from` to `to`.
template <class Found, class Should>
double worst(double from, double to, Found found, Should should) {
    double most = 0;
    constexpr int kCount = 20000;
    for (int i = 0; i < kCount; ++i) {
        Eight x;
        for (std::size_t l = 0; l < kLanes; ++l)
            x[l] = std::exp(from + (to - from) * (i + static_cast<double>(l) / kLanes) / kCount);
        const Lanes y = found(in(x));
        for (int l = 0; l < kLanes; ++l)
            most = std::max(most, apart(y[l], should(x[static_cast<std::size_t>(l)])));
    }
    return most;
}

}  // namespace

TEST_CASE("functions of lanes are right to the units that they say") {
    CHECK(worst(
              -700, 700, [](const Lanes& x) { return strata::log(x); },
              [](double x) { return std::log(x); }) <= 2);
    CHECK(worst(
              -20, 6.5, [](const Lanes& x) { return strata::exp(x); },
              [](double x) { return std::exp(x); }) <= 2);
    CHECK(worst(
              -20, 6.5, [](const Lanes& x) { return strata::exp(-x); },
              [](double x) { return std::exp(-x); }) <= 2);
    CHECK(worst(
              -600, 600, [](const Lanes& x) { return over_sixth_root(x); },
              [](double x) {
                  return static_cast<double>(std::pow(static_cast<long double>(x), -1.0L / 6));
              }) <= 4);
    CHECK(worst(
              -600, 600, [](const Lanes& x) { return over_root(x); },
              [](double x) { return 1 / std::sqrt(x); }) == 0);
}

TEST_CASE("functions of lanes at their ends") {
    same(strata::log(broadcast(1)), [](auto) { return 0.0; });
    same(strata::exp(broadcast(0)), [](auto) { return 1.0; });
    same(strata::exp(broadcast(1e9)) - strata::exp(broadcast(700)), [](auto) { return 0.0; });
    same(strata::exp(broadcast(-1e9)) - strata::exp(broadcast(-700)), [](auto) { return 0.0; });
    CHECK(over_root(0.0) == 1e150);
    same(over_root(Lanes{}) * 0.0, [](auto) { return 0.0; });
    const auto [e, m] = strata::frexp(Lanes{0.75, 1, 1.5, 8, 0x1p-1000, 3, 1e300, 0x1.7p-3});
    same(strata::ldexp(m, e + 0x1.8p52),
         [](auto l) { return Eight{0.75, 1, 1.5, 8, 0x1p-1000, 3, 1e300, 0x1.7p-3}[l]; });
    CHECK((e[0] == 0 && e[2] == 1 && e[3] == 3 && e[4] == -1000));
    for (int l = 0; l < kLanes; ++l) CHECK((m[l] >= 0.70710678 && m[l] < 1.41421357));
}

TEST_CASE("functions of lanes have the same bits with registers of every size") {
    // Digests of many values, as registers of 16 bytes gave them.
    std::uint64_t logs = 0, exps = 0, sixths = 0, random = 1;
    for (int n = 0; n < 1000; ++n) {
        Eight x;
        for (double& v : x) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            v = std::ldexp(static_cast<double>(random >> 11), static_cast<int>(random >> 59) - 64);
        }
        const auto add = [](std::uint64_t& sum, const Lanes& y) {
            for (int l = 0; l < kLanes; ++l) sum = 31 * sum + std::bit_cast<std::uint64_t>(y[l]);
        };
        add(logs, strata::log(in(x))), add(exps, strata::exp(-in(x))), add(sixths, over_sixth_root(in(x)));
    }
    CHECK(logs == 0xad2d51034c5d1215U);
    CHECK(exps == 0x3e0a2754d0d00b34U);
    CHECK(sixths == 0xc83562d8d6f839dcU);
}
