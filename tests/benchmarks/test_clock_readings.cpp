// What readings of a clock over time come to, on given numbers; and the chain that they are read with.
#include <limits>
#include <vector>

#include "benchmarks/machine/clock_readings.hpp"
#include "core/machine/clock.hpp"
#include "tests/catch.hpp"

using namespace strata::bench::machine_measures;

TEST_CASE("the median is that of the readings within a span of time, whatever was before and after") {
    const std::vector<Reading> readings = {{0.1, 5},   {1.0, 3.0}, {1.2, 1.0},
                                           {1.4, 3.2}, {1.6, 3.4}, {2.0, 9}};
    CHECK(median_between(readings, 1.0, 2.0).value() == Approx(3.1));
    CHECK(median_between(readings, 1.0, 1.5).value() == Approx(3.0));
    CHECK(median_between(readings, 0, 10).value() == Approx(3.3));
    CHECK(!median_between(readings, 3, 4));
    CHECK(!median_between({}, 0, 1));
}

TEST_CASE("over time the slowest thread is shown, another one in each part if need be") {
    const std::vector<std::vector<Reading>> threads = {{{0.1, 3}, {0.6, 4}, {1.6, 2}},
                                                       {{0.2, 5}, {0.7, 2.5}}};
    const auto slowest = slowest_over_time(threads, 2, 4);
    REQUIRE(slowest.size() == 4);
    CHECK(slowest[0].value() == 3);
    CHECK(slowest[1].value() == 2.5);
    CHECK(!slowest[2]);
    CHECK(slowest[3].value() == 2);
}

TEST_CASE("a clock that no core has is not believed") {
    CHECK(believable(0.3));
    CHECK(believable(3.9));
    CHECK(!believable(0.29));
    CHECK(!believable(8.1));
    CHECK(!believable(std::numeric_limits<double>::infinity()));
    CHECK(!believable(std::numeric_limits<double>::quiet_NaN()));
}

TEST_CASE("the chain comes to the number of its additions") {
#if defined(__x86_64__) || defined(__aarch64__)
    for (const std::uint64_t rounds : {0U, 1U, 2U, 1000U})
        CHECK(strata::machine::dependent_additions(rounds) == strata::machine::kAdditionsARound * rounds);
#else
    CHECK(strata::machine::dependent_additions(5) == 0);
#endif
}
