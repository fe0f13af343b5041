#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core/team/collectives.hpp"
#include "core/team/exact_sum.hpp"
#include "tests/catch.hpp"
#include "tests/team/shared.hpp"

using namespace strata::team;
using namespace strata::team::testing;

namespace {

double sum_of(std::span<const double> values) {
    ExactSum sum;
    sum.add(values);
    return sum.value();
}

using limits = std::numeric_limits<double>;

/// Values of all magnitudes and both signs, whose plain sum depends on the order.
std::vector<double> wild(std::size_t count, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) {
        const double mantissa = std::uniform_real_distribution<>(-1, 1)(random);
        values.push_back(std::ldexp(mantissa, std::uniform_int_distribution<>(-1080, 1000)(random)));
    }
    return values;
}

}  // namespace

TEST_CASE("one value is its own sum, whatever it is") {
    CHECK(sum_of({}) == 0);
    for (const double x :
         {1.0, -1.0, 0.1, limits::max(), limits::lowest(), limits::min(), limits::denorm_min(),
          -3 * limits::denorm_min(), 1e300, -1e-310, 123456789.123456789}) {
        CHECK(sum_of(std::vector<double>{x}) == x);
        CHECK(sum_of(std::vector<double>{x, x, -x}) == x);
        CHECK(sum_of(std::vector<double>{x, -x}) == 0);
    }
    for (const double x : wild(2000, 1)) CHECK(sum_of(std::vector<double>{x}) == x);
}

TEST_CASE("the sum of two doubles is the one that the processor rounds to") {
    const std::vector<double> a = wild(20'000, 2), b = wild(20'000, 3);
    std::mt19937_64 random(4);
    for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(sum_of(std::vector<double>{a[i], b[i]}) == a[i] + b[i]);
        // Exponents that are near each other, where rounding is decided by the last bits.
        // In long: of zero, ilogb() is the least int there is.
        const long apart = long{std::ilogb(a[i])} - std::ilogb(b[i]) + static_cast<long>(i % 110) - 55;
        const double near = std::scalbln(b[i], apart);
        if (std::isfinite(near)) CHECK(sum_of(std::vector<double>{a[i], near}) == a[i] + near);
    }
}

TEST_CASE("ties go to the even neighbour, and anything below breaks a tie") {
    const double ulp = limits::epsilon();
    CHECK(sum_of(std::vector<double>{1, ulp / 2}) == 1);
    CHECK(sum_of(std::vector<double>{1 + ulp, ulp / 2}) == 1 + 2 * ulp);
    CHECK(sum_of(std::vector<double>{1, ulp / 2, limits::denorm_min()}) == 1 + ulp);
    CHECK(sum_of(std::vector<double>{-1, -ulp / 2, -limits::denorm_min()}) == -1 - ulp);
    CHECK(sum_of(std::vector<double>{1, ulp / 2, -limits::denorm_min()}) == 1);
}

TEST_CASE("what plain sums lose is kept") {
    CHECK(sum_of(std::vector<double>{1e308, 1, -1e308}) == 1);
    CHECK(sum_of(std::vector<double>{limits::max(), limits::max(), -limits::max()}) == limits::max());
    CHECK(sum_of(std::vector<double>{limits::max(), limits::max()}) == limits::infinity());
    CHECK(sum_of(std::vector<double>{limits::lowest(), limits::lowest()}) == -limits::infinity());
    // 0.1 + ... ten times: the exact sum of ten doubles 0.1 is just above 1 and rounds to it.
    CHECK(sum_of(std::vector<double>(10, 0.1)) == 1);
}

TEST_CASE("infinities and NaN come out as of any sum, in any order") {
    const double inf = limits::infinity(), nan = limits::quiet_NaN();
    CHECK(sum_of(std::vector<double>{1, inf, -1e308}) == inf);
    CHECK(sum_of(std::vector<double>{-inf, 5}) == -inf);
    CHECK(std::isnan(sum_of(std::vector<double>{inf, 1, -inf})));
    CHECK(std::isnan(sum_of(std::vector<double>{nan, inf})));
}

TEST_CASE("permutations and divisions of the values leave every bit of the sum") {
    std::vector<double> values = wild(5000, 5);
    const double expected = sum_of(values);
    std::mt19937_64 random(6);
    for (int permutation = 0; permutation < 20; ++permutation) {
        std::shuffle(values.begin(), values.end(), random);
        CHECK(sum_of(values) == expected);
        ExactSum all;
        for (std::size_t begin = 0; begin < values.size();) {
            const std::size_t end = std::min(values.size(), begin + random() % 1500);
            ExactSum part;
            part.add(std::span(values).subspan(begin, end - begin));
            all.add(part);
            begin = end;
        }
        CHECK(all.value() == expected);
    }
}

TEST_CASE("any number of members gets the same bits") {
    const std::vector<double> values = wild(3001, 7);
    const double expected = sum_of(values);
    for (const int members : {1, 2, 3, 8, 13}) {
        const SharedBarrier shared({members, {}, {}});
        const Zeros places(Collectives::bytes(members));
        std::vector<double> got(static_cast<std::size_t>(members));
        as_members(members, [&](int m) {
            Barrier barrier = shared.of(m, patient());
            Collectives together(places.get(), m, barrier);
            const auto n = values.size(), k = static_cast<std::size_t>(m),
                       all = static_cast<std::size_t>(members);
            const auto mine = std::span(values).subspan(n * k / all, n * (k + 1) / all - n * k / all);
            for (int repeat = 0; repeat < 3; ++repeat) got[k] = together.sum(mine);
        });
        CHECK(got == std::vector<double>(got.size(), expected));
    }
}

TEST_CASE("sums of sums carry when their digits fill") {
    ExactSum sum;
    sum.add(limits::max());
    // 2^40 times the largest double, by doubling: far beyond what a digit holds without carries.
    for (int doubling = 0; doubling < 40; ++doubling) sum.add(ExactSum(sum));
    CHECK(sum.value() == limits::infinity());
    ExactSum back;
    back.add(-limits::max());
    for (int doubling = 0; doubling < 40; ++doubling) back.add(ExactSum(back));
    sum.add(back);
    sum.add(0.5);
    CHECK(sum.value() == 0.5);
}
