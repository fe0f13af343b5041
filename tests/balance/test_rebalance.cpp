#include "core/balance/rebalance.hpp"

#include "core/balance/plan.hpp"
#include "tests/balance/sets.hpp"
#include "tests/catch.hpp"

using namespace strata::balance;
using namespace strata::tests;

namespace {

constexpr int kProcesses = 4;
constexpr double kGain = 0.05, kWeight = 0.5;

using Costs = std::vector<std::vector<double>>;

std::vector<Owners> packed(const Costs& costs) {
    return {pack_largest_first(costs.front(), std::vector<double>(kProcesses, 1.0))};
}

}  // namespace

TEST_CASE("noise of 3 % changes nothing in 1000 steps") {
    std::mt19937_64 random(8);
    const std::vector<double> true_costs = whole_costs(random, 40);
    const std::vector<Owners> now = packed({true_costs});
    Costs smoothed;
    for (int i = 0; i < 1000; ++i) {
        std::vector<double> costs = true_costs;
        for (double& cost : costs) cost *= 0.97 + 0.06 * (pick(random, 0, 1000) / 1000.0);
        smooth(smoothed, {costs}, kWeight);
        REQUIRE(!move_pays(smoothed, now, packed(smoothed), kProcesses, kGain));
    }
}

TEST_CASE("patches leave a process that became slow, once, and then it is left in peace") {
    std::vector<double> costs(16, 1.0);
    std::vector<Owners> owners = packed({costs});
    for (size_t i = 0; i < 16; ++i)
        if (owners[0][i] == 0) costs[i] = 4;
    Costs smoothed;
    int changes = 0;
    for (int i = 0; i < 200; ++i) {
        smooth(smoothed, {costs}, kWeight);
        const std::vector<Owners> next = packed(smoothed);
        const double before = longest_time(smoothed, owners, kProcesses),
                     after = longest_time(smoothed, next, kProcesses);
        if (!move_pays(smoothed, owners, next, kProcesses, kGain)) continue;
        CHECK(before == Approx(16));
        CHECK(after == Approx(7));
        CHECK(next != owners);
        owners = next;
        ++changes;
    }
    CHECK(changes == 1);
}

TEST_CASE("patches move for the gain that is asked, and not for less") {
    const std::vector<Owners> now = {{0, 0, 1}}, next = {{0, 1, 1}};
    const Costs costs = {{3, 1, 2}};
    CHECK(longest_time(costs, now, 2) == Approx(4));
    CHECK(longest_time(costs, next, 2) == Approx(3));
    CHECK(move_pays(costs, now, next, 2, 0.2));
    CHECK(!move_pays(costs, now, next, 2, 0.3));
}

TEST_CASE("a first measurement counts whole, later ones by their weight") {
    Costs costs;
    smooth(costs, {{4, 2}, {3}}, 0.25);
    CHECK(costs == Costs{{4, 2}, {3}});
    smooth(costs, {{8, 2}, {7}}, 0.25);
    CHECK(costs[0][0] == Approx(5));
    CHECK(costs[0][1] == Approx(2));
    CHECK(costs[1][0] == Approx(4));
}

TEST_CASE("a run that has cost nothing moves nothing") {
    CHECK(!move_pays({{0, 0, 0}}, {{0, 0, 1}}, {{0, 1, 1}}, 2, kGain));
}
