#include "core/balance/rebalance.hpp"

#include "core/balance/plan.hpp"
#include "tests/balance/sets.hpp"
#include "tests/catch.hpp"

using namespace strata::balance;
using namespace strata::tests;

namespace {

constexpr int kProcesses = 4;

std::vector<Owners> packed(const std::vector<std::vector<double>>& costs) {
    return {pack_largest_first(costs.front(), std::vector<double>(kProcesses, 1.0))};
}

}  // namespace

TEST_CASE("noise of 3 % changes nothing in 1000 steps") {
    std::mt19937_64 random(8);
    const std::vector<double> true_costs = whole_costs(random, 40);
    const std::vector<Owners> now = packed({true_costs});
    Rebalancer run;
    for (int i = 0; i < 1000; ++i) {
        std::vector<double> costs = true_costs;
        for (double& cost : costs) cost *= 0.97 + 0.06 * (pick(random, 0, 1000) / 1000.0);
        run.observe({costs});
        REQUIRE(!run.pays(now, packed(run.costs()), kProcesses));
    }
}

TEST_CASE("patches leave a process that became slow, once, and then it is left in peace") {
    std::vector<double> costs(16, 1.0);
    std::vector<Owners> owners = packed({costs});
    for (size_t i = 0; i < 16; ++i)
        if (owners[0][i] == 0) costs[i] = 4;
    Rebalancer run;
    int changes = 0;
    for (int i = 0; i < 200; ++i) {
        run.observe({costs});
        const std::vector<Owners> next = packed(run.costs());
        const double before = run.longest(owners, kProcesses), after = run.longest(next, kProcesses);
        if (!run.pays(owners, next, kProcesses)) continue;
        CHECK(before == Approx(16));
        CHECK(after == Approx(7));
        CHECK(next != owners);
        owners = next;
        ++changes;
    }
    CHECK(changes == 1);
}

TEST_CASE("patches move for the gain that the rule asks, and not for less") {
    const std::vector<Owners> now = {{0, 0, 1}}, next = {{0, 1, 1}};
    for (const double least_gain : {0.2, 0.3}) {
        Rebalancer run({.least_gain = least_gain});
        run.observe({{3, 1, 2}});
        CHECK(run.longest(now, 2) == Approx(4));
        CHECK(run.longest(next, 2) == Approx(3));
        CHECK(run.pays(now, next, 2) == (least_gain < 0.25));
    }
}

TEST_CASE("a first measurement counts whole, later ones by their weight") {
    Rebalancer run({.weight = 0.25});
    run.observe({{4, 2}, {3}});
    CHECK(run.costs() == std::vector<std::vector<double>>{{4, 2}, {3}});
    run.observe({{8, 2}, {7}});
    CHECK(run.costs()[0][0] == Approx(5));
    CHECK(run.costs()[0][1] == Approx(2));
    CHECK(run.costs()[1][0] == Approx(4));
}

TEST_CASE("a run that has cost nothing moves nothing") {
    Rebalancer run;
    run.observe({{0, 0, 0}});
    CHECK(!run.pays({{0, 0, 1}}, {{0, 1, 1}}, 2));
}
