#include "core/balance/rebalance.hpp"
#include "core/base/error.hpp"
#include "tests/balance/sets.hpp"
#include "tests/catch.hpp"

using namespace strata::balance;
using namespace strata::tests;

namespace {

constexpr int kCpus = 16;

Request four_processes() { return {.cpus = kCpus, .processes = 4}; }

/// What a run would measure: true costs over the speed of each one's process.
std::vector<double> step(const Rebalancer& run, const std::vector<double>& costs) {
    std::vector<double> times;
    for (size_t i = 0; i < costs.size(); ++i)
        times.push_back(costs[i] / run.plan().threads[static_cast<size_t>(run.plan().owners[i])]);
    return times;
}

}  // namespace

TEST_CASE("noise of 3 % changes nothing in 1000 steps") {
    std::mt19937_64 random(8);
    const Problem problem{whole_costs(random, 40), {}, {}};
    Rebalancer run(problem, four_processes(), make_plan(problem, four_processes()), {});
    for (int i = 0; i < 1000; ++i) {
        std::vector<double> costs = problem.costs;
        for (double& cost : costs) cost *= 0.97 + 0.06 * (pick(random, 0, 1000) / 1000.0);
        run.observe_patches(step(run, costs));
        REQUIRE(run.decide().change == Change::none);
    }
}

TEST_CASE("a process that became slow gets threads before patches move, and then it is left in peace") {
    const Problem problem{{8, 8, 8, 8}, {}, {}};
    RebalanceRule rule;
    rule.cost_per_byte = 1;
    Rebalancer run(problem, four_processes(), make_plan(problem, four_processes()), rule,
                   {1e6, 1e6, 1e6, 1e6});
    const std::vector<double> costs = {20, 4, 4, 4};
    int changes = 0;
    for (int i = 0; i < 200; ++i) {
        run.observe_patches(step(run, costs));
        const Decision decision = run.decide();
        CHECK(decision.change != Change::patches);
        CHECK(decision.after <= decision.before);
        if (decision.change == Change::threads) ++changes;
    }
    CHECK(changes == 1);
    CHECK(run.plan().longest == Approx(2));
}

TEST_CASE("patches move when that pays within the steps ahead, and not when moving costs more") {
    const Problem problem{std::vector<double>(16, 1.0), {}, {}};
    const Request request{.cpus = 4, .processes = 4, .max_threads = 1};
    std::vector<double> costs(16, 1.0);
    const Plan start = make_plan(problem, request);
    for (size_t i = 0; i < 16; ++i)
        if (start.owners[i] == 0) costs[i] = 4;
    for (const double price : {0.001, 1000.0}) {
        RebalanceRule rule;
        rule.cost_per_byte = price;
        Rebalancer run(problem, request, start, rule, std::vector<double>(16, 1.0));
        run.observe_patches(step(run, costs));
        const Decision decision = run.decide();
        CHECK(decision.before == Approx(16));
        if (price < 1) {
            CHECK(decision.change == Change::patches);
            CHECK(decision.after == Approx(8));
            CHECK(decision.moved > 0);
            CHECK(decision.cost == Approx(price * decision.moved));
        } else {
            CHECK(decision.change == Change::none);
            CHECK(run.plan().owners == start.owners);
        }
    }
}

TEST_CASE("times of processes alone scale what their patches are believed to cost") {
    const Problem problem{{2, 1, 3}, {}, {}};
    Plan plan;
    plan.owners = {0, 0, 1};
    plan.threads = {2, 1};
    Rebalancer run(problem, {.cpus = 3, .processes = 2}, plan, {});
    run.observe_processes(std::vector<double>{3, 3});
    CHECK(run.costs()[0] == Approx(4));
    CHECK(run.costs()[1] == Approx(2));
    CHECK(run.costs()[2] == Approx(3));
    CHECK_THROWS_AS(run.observe_processes(std::vector<double>{1}), strata::Error);
    CHECK_THROWS_AS(run.observe_patches(std::vector<double>{1, -1, 1}), strata::Error);
}
