// Sixteen floats or eight doubles at once beside numbers one by one.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>

#include "core/lanes/wide.hpp"
#include "tests/catch.hpp"

using namespace strata::wide;

namespace {

template <class Real>
using Each = std::array<Real, static_cast<std::size_t>(Wide<Real>::kLanes)>;

template <class Real>
Each<Real> numbers(std::uint64_t seed, double from = -2, double to = 2) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> any(from, to);
    Each<Real> x;
    for (Real& v : x) v = static_cast<Real>(any(random));
    return x;
}
template <class Real>
Wide<Real> in(const Each<Real>& x) {
    Wide<Real> r;
    std::memcpy(r.of, x.data(), sizeof r.of);
    return r;
}
/// Whether each lane l has the bits of one(l).
template <class Real, class F>
void same(const Wide<Real>& found, F&& one) {
    Each<Real> is, should;
    std::memcpy(is.data(), found.of, sizeof is);
    for (std::size_t l = 0; l < is.size(); ++l) should[l] = one(l);
    CHECK(std::memcmp(is.data(), should.data(), sizeof is) == 0);
}

template <class Real>
void check_arithmetic() {
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
        const auto a = numbers<Real>(seed), b = numbers<Real>(seed + 100), c = numbers<Real>(seed + 200);
        const Wide<Real> x = in<Real>(a), y = in<Real>(b), z = in<Real>(c);
        same(Wide<Real>(Real(1.5)), [](auto) { return Real(1.5); });
        same(x + y, [&](auto l) { return a[l] + b[l]; });
        same(x - y, [&](auto l) { return a[l] - b[l]; });
        same(x * y, [&](auto l) { return a[l] * b[l]; });
        same(fma(x, y, z), [&](auto l) { return std::fma(a[l], b[l], c[l]); });
        same(sqrt(x * x), [&](auto l) { return std::sqrt(a[l] * a[l]); });
        same(least(x, y), [&](auto l) { return a[l] < b[l] ? a[l] : b[l]; });
        same(within(x, y, z), [&](auto l) { return a[l] < b[l] ? c[l] : Real(0); });
        double sum = 0;
        for (const Real v : a) sum += static_cast<double>(v);
        CHECK(total(x) == sum);
        // Whole numbers of the same size.
        Whole<Real> each[Wide<Real>::kLanes];
        const Wholes<Real> n = plus(times(wholes(x), Whole<Real>(3)), wholes(y));
        std::memcpy(each, n.of, sizeof each);
        using Unsigned = std::make_unsigned_t<Whole<Real>>;
        for (std::size_t l = 0; l < a.size(); ++l)
            CHECK(static_cast<Unsigned>(each[l]) ==
                  static_cast<Unsigned>(3 * std::bit_cast<Unsigned>(a[l]) + std::bit_cast<Unsigned>(b[l])));
    }
}

template <class Real>
void check_quads() {
    constexpr std::size_t kLanes = Wide<Real>::kLanes, kQuads = Wide<Real>::kQuads;
    const auto a = numbers<Real>(1), b = numbers<Real>(2), c = numbers<Real>(3);
    alignas(64) Real four[4] = {1, 2, 3, 4};
    same(spread(four), [&](auto l) { return four[l % 4]; });
    same(each(four), [&](auto l) { return four[l / 4]; });
    for (std::size_t q = 0; q < kQuads; ++q) {
        const Quad<Real> part = quad(in<Real>(a), static_cast<int>(q));
        for (std::size_t l = 0; l < 4; ++l) CHECK(part[l] == a[4 * q + l]);
        Real from[4] = {5, 6, 7, 8};
        take(from, part);
        for (std::size_t l = 0; l < 4; ++l) CHECK(from[l] == static_cast<Real>(5 + l) - a[4 * q + l]);
    }
    // Quads of floats are added in pairs: the order is part of the result.
    const auto over = [](const Each<Real>& x, std::size_t l) {
        if constexpr (kQuads == 2)
            return x[l] + x[4 + l];
        else
            return (x[l] + x[4 + l]) + (x[8 + l] + x[12 + l]);
    };
    alignas(64) Real f[16];
    for (std::size_t l = 0; l < 16; ++l) f[l] = static_cast<Real>(l);
    settle(f, in<Real>(a), in<Real>(b), in<Real>(c));
    for (std::size_t l = 0; l < 4; ++l) {
        CHECK(f[l] == static_cast<Real>(l) - over(a, l));
        CHECK(f[4 + l] == static_cast<Real>(4 + l) - over(b, l));
        CHECK(f[8 + l] == static_cast<Real>(8 + l) - over(c, l));
    }
    Real sums[kQuads] = {};
    collect(sums, in<Real>(a));
    for (std::size_t q = 0; q < kQuads; ++q)
        CHECK(sums[q] == (a[4 * q] + a[4 * q + 1]) + (a[4 * q + 2] + a[4 * q + 3]));
    static_assert(kLanes == 4 * kQuads);
}

}  // namespace

TEST_CASE("arithmetic in wide lanes has the bits of that with numbers") {
    INFO("registers of " << kRegister << " bytes");
    check_arithmetic<float>();
    check_arithmetic<double>();
}

TEST_CASE("quads of wide lanes are spread, taken and added up in one order") {
    check_quads<float>();
    check_quads<double>();
}

TEST_CASE("which lanes are below a limit") {
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
        const auto a = numbers<float>(seed), b = numbers<float>(seed + 50);
        unsigned bits = 0;
        for (std::size_t l = 0; l < a.size(); ++l) bits |= a[l] < b[l] ? 1U << l : 0U;
        CHECK(lanes_within(in<float>(a), in<float>(b)) == bits);
        CHECK(lanes_within(in<float>(a), in<float>(a)) == 0);
    }
}

TEST_CASE("inverses below a limit: of floats the quotient, of doubles to a unit in the last place") {
    double worst = 0;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const auto a = numbers<float>(seed, 0.3, 9);
        same(inverse_within(in<float>(a), Wide<float>(6)),
             [&](auto l) { return a[l] < 6 ? 1 / a[l] : 0.0F; });
        const auto b = numbers<double>(seed, 0.3, 9);
        const Wide<double> found = inverse_within(in<double>(b), Wide<double>(6));
        Each<double> is;
        std::memcpy(is.data(), found.of, sizeof is);
        for (std::size_t l = 0; l < b.size(); ++l) {
            const double should = b[l] < 6 ? 1 / b[l] : 0;
            if (should == 0)
                CHECK(is[l] == 0);
            else
                worst = std::max(worst, std::abs(is[l] - should) / (std::nextafter(should, 9) - should));
        }
    }
    CHECK(worst <= 1);
}

TEST_CASE("rows of a table by whole numbers, and back") {
    const Each<double> x{0.2, 1.99, 3, 4.5, 2.0001, 0, 1, 2.5};
    const Wholes<double> row = truncated(in<double>(x));
    same(reals(row), [&](auto l) { return std::trunc(x[l]); });
    double table[5 * 4];
    for (int k = 0; k < 20; ++k) table[k] = 0.5 * k;
    for (int number = 0; number < 4; ++number)
        same(column(table, row, number), [&](auto l) { return 0.5 * (4 * std::trunc(x[l]) + number); });
}
