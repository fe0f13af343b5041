// Definitions of the noise and distance figures on given numbers, and pairs of cores on a large machine.
#include <map>
#include <set>
#include <vector>

#include "benchmarks/machine/pairs.hpp"
#include "benchmarks/machine/statistics.hpp"
#include "core/machine/machine.hpp"
#include "tests/catch.hpp"

using namespace strata::bench::machine_measures;

TEST_CASE("the loss of a core is what its mean quantum has over its shortest, in percent of the shortest") {
    const std::vector<float> quanta = {2, 2, 4, 2, 5};
    const auto loss = loss_of(quanta);
    REQUIRE(loss);
    CHECK(loss->shortest == 2);
    CHECK(loss->percent == Approx(50));
    CHECK(loss->longest == 3);
}

TEST_CASE("a core that nobody disturbs loses nothing") {
    const auto loss = loss_of(std::vector<float>(100, 0.5F));
    REQUIRE(loss);
    CHECK(loss->percent == 0);
    CHECK(loss->longest == 0);
}

TEST_CASE("one quantum, none, or one that took no time says nothing of noise") {
    CHECK_FALSE(loss_of({}));
    CHECK_FALSE(loss_of(std::vector<float>{1}));
    CHECK_FALSE(loss_of(std::vector<float>{0, 1}));
}

TEST_CASE("a sample is exceeded by no more than the share asked for") {
    std::vector<double> ascending;
    for (int i = 1; i <= 1000; ++i) ascending.push_back(i);
    CHECK(exceeded_by(ascending, 0.0) == 1000);
    CHECK(exceeded_by(ascending, 0.01) == 990);
    CHECK(exceeded_by(ascending, 0.5) == 500);
    CHECK(exceeded_by(ascending, 1.0) == 1);
    CHECK(exceeded_by(std::vector<double>{7}, 0.01) == 7);
}

TEST_CASE("the spread of repetitions is in parts per million of the shortest or the median") {
    std::vector<double> ascending(200, 1'000'000.0);
    for (std::size_t i = 100; i < 200; ++i) ascending[i] = 1'000'010;
    ascending.back() = 1'000'300;
    const auto spread = spread_of(ascending);
    REQUIRE(spread);
    CHECK(spread->shortest == 1'000'000);
    CHECK(spread->median == 1'000'000);
    CHECK(spread->range == Approx(300));
    CHECK(spread->interquartile == Approx(10));
    CHECK(spread->p99 == Approx(10));
    CHECK_FALSE(spread_of(std::vector<double>{5}));
    CHECK_FALSE(spread_of(std::vector<double>{0, 5}));
}

TEST_CASE("the slope is that of the straight line the points lie about") {
    const std::vector<std::pair<double, double>> exact = {{10, 100}, {12, 120}, {32, 320}};
    CHECK(slope(exact).value() == Approx(10));
    const std::vector<std::pair<double, double>> about = {{0, 1}, {1, 0}, {2, 3}, {3, 2}};
    CHECK(slope(about).value() == Approx(0.6));
}

TEST_CASE("fewer than three distances have no slope, however often they were measured") {
    const std::vector<std::pair<double, double>> two = {{10, 100}, {32, 300}, {10, 110}, {32, 310}};
    CHECK_FALSE(slope(two));
    CHECK_FALSE(slope({}));
}

TEST_CASE("256 cores: a small sample still has every kind of pair and each pair once") {
    const auto machine = strata::machine::read_machine(
        {"synthetic:package:2 numa:4 l3:4 l2:4 l1d:2 core:1 pu:1", false, false});
    REQUIRE(machine.cores.size() == 256);
    std::vector<int> cores(256);
    for (int i = 0; i < 256; ++i) cores[static_cast<std::size_t>(i)] = i;
    const auto pairs = choose_pairs(machine, cores, 333, 1999);
    CHECK(pairs.size() == 333);
    CHECK(std::set(pairs.begin(), pairs.end()).size() == 333);
    std::map<Shared, int> kinds;
    for (const auto& [a, b] : pairs) {
        REQUIRE(a < b);
        REQUIRE(b < 256);
        ++kinds[shared_by(machine, a, b)];
    }
    REQUIRE(kinds.size() == kSharedKinds);
    for (const auto& [kind, times] : kinds) CHECK(times >= 66);
    CHECK(pairs == choose_pairs(machine, cores, 333, 1999));
}
