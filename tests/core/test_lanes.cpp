// Eight doubles at once beside doubles one by one. This file is compiled for registers of each size that this
// processor has: so all have the same bits.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>

#include "core/lanes/lanes.hpp"
#include "tests/catch.hpp"
#include "tests/core/eight.hpp"

using namespace strata;
using namespace strata::tests;

TEST_CASE("arithmetic in lanes has the bits of that with numbers") {
    INFO("registers of " << kRegisterBytes << " bytes");
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
        const Eight a = values(seed), b = values(seed + 100), c = values(seed + 200);
        const Lanes x = in(a), y = in(b), z = in(c);
        same(x + y, [&](auto l) { return a[l] + b[l]; });
        same(x - 2.5, [&](auto l) { return a[l] - 2.5; });
        same(3.0 - x, [&](auto l) { return 3.0 - a[l]; });
        same(x / z, [&](auto l) { return a[l] / c[l]; });
        // A product and a sum are two roundings.
        same(x * y + z, [&](auto l) {
            volatile double product = a[l] * b[l];
            return product + c[l];
        });
        same(-x, [&](auto l) { return -a[l]; });
        same(max(x, y), [&](auto l) { return a[l] > b[l] ? a[l] : b[l]; });
        same(min(x, y), [&](auto l) { return a[l] < b[l] ? a[l] : b[l]; });
        same(abs(x), [&](auto l) { return a[l] < 0 ? -a[l] : a[l]; });
        same(sqrt(abs(x)), [&](auto l) { return std::sqrt(a[l] < 0 ? -a[l] : a[l]); });
        same(select((x < y) & (y >= z), x, z),
             [&](auto l) { return a[l] < b[l] && b[l] >= c[l] ? a[l] : c[l]; });
        Lanes sum = x;
        sum += y, sum -= z, sum *= x;
        same(sum, [&](auto l) { return (a[l] + b[l] - c[l]) * a[l]; });
        double all = 0;
        for (const double v : a) all += v;
        CHECK(lane_sum(x) == all);
        CHECK(largest_lane(x) == *std::max_element(a.begin(), a.end()));
        CHECK(all_of(x == x, kLanes));
        CHECK(!all_of(abs(x) < 0.0, 1));
    }
}

TEST_CASE("no number is less, more or the same") {
    const double none = std::numeric_limits<double>::quiet_NaN();
    const Lanes x{1, none, 3, none, 5, 6, 7, 8};
    const LaneInts is = x == x;
    for (int l = 0; l < kLanes; ++l) CHECK((is[l] != 0) == (l != 1 && l != 3));
    CHECK(all_of(is, 1));
    CHECK(!all_of(is, 2));
    same(select(x > 4.0, x, Lanes{}), [](auto l) { return l >= 4 ? static_cast<double>(l + 1) : 0.0; });
}

TEST_CASE("lanes are read, written and moved") {
    Lanes x{1, 2, 3, 4, 5, 6, 7, 8};
    const Lanes y = x + 8.0;
    x[3] = -4;
    const Lanes& read = x;
    CHECK(read[3] == -4);
    CHECK(read[7] == 8);
    x[3] = 4;
    const auto number = [](int l) { return static_cast<double>(l + 1); };
    same(shuffle<0, 8, 2, 10, 4, 12, 6, 14>(x, y),
         [&](auto l) { return number(static_cast<int>(l / 2 * 2 + l % 2 * 8)); });
    same(shuffle<0, 1, 2, 3, 8, 9, 10, 11>(x, y),
         [&](auto l) { return number(static_cast<int>(l < 4 ? l : l + 4)); });
    same(shuffle<15, 0, 1, 2, 3, 4, 5, 6>(x, y),
         [&](auto l) { return number(l == 0 ? 15 : static_cast<int>(l) - 1); });
    same(shuffle<7, 6, 5, 4, 3, 2, 1, 0>(x, x), [&](auto l) { return number(7 - static_cast<int>(l)); });
    same(shuffle<4, 4, 4, 4, 5, 5, 5, 5>(x, x), [&](auto l) { return number(l < 4 ? 4 : 5); });
}

TEST_CASE("integers become doubles, and doubles integers") {
    std::mt19937_64 random(7);
    for (int n = 0; n < 200; ++n) {
        std::array<std::int64_t, kLanes> given;
        for (std::int64_t& v : given) v = static_cast<std::int64_t>(random() >> (1 + n % 63));
        given[0] = n == 0 ? std::numeric_limits<std::int64_t>::max() - 1023 : n;
        const Lanes x = to_doubles(read_lanes<LaneInts>(given.data()));
        same(x, [&](auto l) { return static_cast<double>(given[l]); });
        std::array<std::int64_t, kLanes> back;
        write_lanes(back.data(), to_ints(min(x, broadcast(0x1p62))));
        for (std::size_t l = 0; l < kLanes; ++l)
            CHECK(back[l] == static_cast<std::int64_t>(std::min(static_cast<double>(given[l]), 0x1p62)));
    }
    same(of_bits(shifted_down(bits_of(broadcast(-2.0)), 1)),
         [](auto) { return std::bit_cast<double>(0x6000000000000000); });
}
