// Eight doubles as the compiler has them, beside doubles one by one.
#include <cmath>
#include <cstddef>

#include "core/lanes/plain.hpp"
#include "tests/catch.hpp"
#include "tests/core/eight.hpp"

using namespace strata;
using namespace strata::tests;

namespace {

PlainLanes plain_in(const Eight& x) { return plain::load(x.data()); }
template <class F>
void same_plain(PlainLanes found, F&& one) {
    Eight each;
    plain::store(each.data(), found);
    same(in(each), one);
}

}  // namespace

TEST_CASE("plain lanes are read, written and moved") {
    const Eight a{1, 2, 3, 4, 5, 6, 7, 8}, b{9, 10, 11, 12, 13, 14, 15, 16};
    const PlainLanes x = plain_in(a), y = plain_in(b);
    const auto number = [](std::size_t l) { return static_cast<double>(l); };
    same_plain(x, [&](std::size_t l) { return number(l + 1); });
    same_plain(plain::broadcast(2.5), [](auto) { return 2.5; });
    same_plain(plain::left_of(x, y), [&](std::size_t l) { return number(l + 8); });
    same_plain(plain::right_of(x, y), [&](std::size_t l) { return number(l + 2); });
    same_plain(plain::evens(x, y), [&](std::size_t l) { return number(2 * l + 1); });
    same_plain(plain::odds(x, y), [&](std::size_t l) { return number(2 * l + 2); });
    same_plain(plain::zip_low(x, y), [&](std::size_t l) { return number(l / 2 + 1 + l % 2 * 8); });
    same_plain(plain::zip_high(x, y), [&](std::size_t l) { return number(l / 2 + 5 + l % 2 * 8); });
    CHECK(plain::any(x > 7.0));
    CHECK(!plain::any(x > 8.0));
    PlainLanes rows[kLanes];
    for (int r = 0; r < kLanes; ++r) rows[r] = x + 10.0 * r;
    plain::transpose(rows);
    for (int c = 0; c < kLanes; ++c)
        same_plain(rows[c], [&](std::size_t r) { return 10 * number(r) + c + 1; });
}

TEST_CASE("plain lanes have roots and sums of the same bits everywhere") {
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
        const Eight a = values(seed);
        const PlainLanes x = plain_in(a);
        same_plain(plain::sqrt(x * x), [&](std::size_t l) { return std::sqrt(a[l] * a[l]); });
        CHECK(plain::sum(x) == ((a[0] + a[4]) + (a[1] + a[5])) + ((a[2] + a[6]) + (a[3] + a[7])));
    }
}
