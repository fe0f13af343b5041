#include "core/balance/rebalance.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "core/balance/space_curve.hpp"
#include "tests/balance/sets.hpp"
#include "tests/catch.hpp"

using namespace strata::balance;
using namespace strata::tests;

namespace {

using Costs = std::vector<std::vector<double>>;

/// As graphs assign their patches at first: contiguous parts.
std::vector<Owners> cut(const Costs& costs, int processes) {
    const std::vector<double> speeds(static_cast<size_t>(processes), 1.0);
    return {split_sequence(costs.front(), speeds)};
}

/// A run of patches whose costs a test changes. Planning and moving cost as much as ten steps, a look 0.2 %
/// of a step.
struct Played {
    int processes;
    std::vector<Owners> owners;
    Decider decider{processes};
    std::int64_t step = 0;
    int moves = 0;
    double move_costs = 10;  // steps

    Played(const std::vector<double>& costs, int of) : processes(of), owners(cut({costs}, of)) {}
    /// A look at costs that were measured after `steps` more steps. Returns whether patches moved.
    bool look(const std::vector<double>& costs, std::int64_t steps) {
        step += steps;
        const double time = longest_time({costs}, owners, processes);
        const auto move = decider.look({{costs}, steps, time, 0.002 * time, move_costs * time}, owners,
                                       [this](const Costs& of) { return cut(of, processes); });
        if (move) owners = move->owners, ++moves;
        return move.has_value();
    }
};

std::vector<double> with_noise(std::vector<double> costs, std::mt19937_64& random, double part) {
    std::normal_distribution<double> noise(0, part);
    for (double& cost : costs) cost *= std::max(0.0, 1 + noise(random));
    return costs;
}

}  // namespace

TEST_CASE("noise of 10 % on every patch moves nothing in 10 000 steps, all of them looked at") {
    for (const auto& [processes, patches] :
         {std::pair{2, 64}, {4, 40}, {8, 64}, {16, 64}, {3, 1000}, {2, 6}}) {
        CAPTURE(processes, patches);
        std::mt19937_64 random(static_cast<std::uint64_t>(patches));
        const std::vector<double> even(static_cast<size_t>(patches), 1.0);
        Played run(even, processes);
        run.move_costs = 0;
        for (int i = 0; i < 10'000; ++i) run.look(with_noise(even, random, 0.1), 1);
        CHECK(run.moves == 0);
    }
}

TEST_CASE("nor does noise of 10 % on all patches of a process together") {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> noise(0.9, 1.1);
    const std::vector<double> even(64, 1.0);
    for (const int processes : {2, 4}) {
        Played run(even, processes);
        run.move_costs = 0;
        for (int i = 0; i < 10'000; ++i) {
            std::vector<double> costs = even, factors;
            for (int p = 0; p < processes; ++p) factors.push_back(noise(random));
            for (size_t p = 0; p < costs.size(); ++p)
                costs[p] *= factors[static_cast<size_t>(run.owners[0][p])];
            run.look(costs, 1);
        }
        CAPTURE(processes);
        CHECK(run.moves == 0);
    }
}

TEST_CASE("after a change patches move at the second look that sees it, once") {
    std::mt19937_64 random(1);
    std::vector<double> costs(64, 1.0);
    Played run(costs, 2);
    for (int i = 0; i < 20; ++i) REQUIRE(!run.look(with_noise(costs, random, 0.02), 100));
    for (size_t p = 0; p < 8; ++p) costs[p] = 10;
    CHECK(!run.look(with_noise(costs, random, 0.02), 100));
    CHECK(run.look(with_noise(costs, random, 0.02), 100));
    CHECK(longest_time({costs}, run.owners, 2) < 1.1 * 136 / 2);
    for (int i = 0; i < 200; ++i) run.look(with_noise(costs, random, 0.02), 100);
    CHECK(run.moves <= 2);  // the first decision still had a quarter of the old costs
    CHECK(longest_time({costs}, run.owners, 2) < 1.06 * 136 / 2);
}

TEST_CASE("a start that is uneven is put right at the second look") {
    std::vector<double> costs(64, 1.0);
    Played run(costs, 2);
    for (size_t p = 0; p < 8; ++p) costs[p] = 10;
    CHECK(!run.look(costs, 20));
    CHECK(run.look(costs, 20));
    CHECK(longest_time({costs}, run.owners, 2) == Approx(68).margin(2));
}

TEST_CASE("patches wait until the lost time has reached that of planning and moving") {
    std::vector<double> costs(64, 1.0);
    Played run(costs, 2);
    run.move_costs = 400;
    for (size_t p = 0; p < 8; ++p) costs[p] = 10;  // 104 and 32, instead of 68 each: 35 % are lost
    std::int64_t steps = 4;
    while (run.moves == 0 && run.step < 5000) {
        run.look(costs, steps);
        steps = run.decider.steps_until_next();
    }
    CHECK(run.step > 1000);
    CHECK(run.step < 1400);
}

TEST_CASE("patches that cannot move stay, and are looked at all the same") {
    std::vector<double> costs(64, 1.0);
    Played run(costs, 2);
    run.move_costs = std::numeric_limits<double>::infinity();
    for (size_t p = 0; p < 8; ++p) costs[p] = 10;
    for (int i = 0; i < 100; ++i) {
        CHECK(!run.look(costs, 100));
        CHECK(run.decider.steps_until_next() <= 16);
    }
}

TEST_CASE("a load that drifts along the patches is followed, at little cost") {
    std::mt19937_64 random(3);
    Played run(std::vector<double>(64, 1.0), 4);
    double took = 0, ideal = 0;
    std::int64_t next = 4;
    for (std::int64_t step = 0; step < 20'000; ++step) {
        std::vector<double> costs;  // a bump that goes once around
        for (int p = 0; p < 64; ++p) {
            const double far = std::abs(std::remainder(p - 64.0 * static_cast<double>(step) / 20'000, 64.0));
            costs.push_back(1 + 9 * std::exp(-far * far / 32));
        }
        took += longest_time({costs}, run.owners, 4);
        ideal += std::accumulate(costs.begin(), costs.end(), 0.0) / 4;
        if (step + 1 < run.step + next) continue;
        if (run.look(with_noise(costs, random, 0.02), next))
            took += run.move_costs * ideal / static_cast<double>(step + 1);
        next = run.decider.steps_until_next();
    }
    CAPTURE(run.moves);
    CHECK(run.moves >= 10);
    CHECK(ideal / took > 0.85);
}

TEST_CASE("two looks of which each wants other owners do not agree") {
    const std::vector<double> even(64, 1.0);
    Played run(even, 2);
    run.move_costs = 0;
    for (int i = 0; i < 9; ++i) run.look(even, 100);
    std::vector<double> first = even, last = even;
    std::fill(first.begin(), first.begin() + 8, 10.0);
    std::fill(last.end() - 8, last.end(), 10.0);
    CHECK(!run.look(first, 100));
    CHECK(!run.look(last, 100));
    CHECK(run.look(last, 100));
}

TEST_CASE("where moves do not bring what was foretold, patches soon stay") {
    Played run(std::vector<double>(64, 1.0), 2);
    for (int i = 0; i < 2000; ++i) {
        std::vector<double> costs(64, 1.0);  // after each move the other process is slow
        for (size_t p = 0; p < costs.size(); ++p)
            if (run.owners[0][p] == run.moves % 2) costs[p] = 2;
        run.look(costs, 100);
    }
    CHECK(run.moves > 2);
    CHECK(run.moves < 20);
}

TEST_CASE("looks cost at most half a percent of the steps between them, and less in quiet times") {
    const std::vector<double> costs(16, 1.0);
    Decider decider(2);
    const std::vector<Owners> owners = cut({costs}, 2);
    const auto look = [&](double cost, double first = 1) {
        std::vector<double> now = costs;
        now[0] = first;
        (void)decider.look({{now}, 10, 8, cost, 1e9}, owners, [](const Costs& of) { return cut(of, 2); });
        return decider.steps_until_next();
    };
    CHECK(look(0) == 8);  // unknown
    CHECK(look(8) >= 200);
    for (int i = 0; i < 10; ++i) (void)look(8);
    CHECK(look(8) == 16 * 200);
    CHECK(look(80) == 16 * 2000);
    CHECK(look(8, 10) == 200 / 8);  // a proposal is tested soon
    CHECK(look(8, 10) == 200);      // and then waits until so much is lost
}

TEST_CASE("a process of several threads takes as long as its dearest patch, or the sum by its threads") {
    const std::vector<Owners> owners = {{0, 0, 0, 1}};
    CHECK(times_of({{3, 1, 2, 5}}, owners, 2) == std::vector<double>{6, 5});
    CHECK(times_of({{3, 1, 2, 5}}, owners, 2, 4) == std::vector<double>{3, 5});
    CHECK(longest_time({{3, 1, 2, 5}}, owners, 2, 4) == 5);
    // One patch limits, so no move helps.
    Decider decider(2);
    const std::vector<Owners> now = {{0, 0, 0, 0, 1, 1}};
    for (int i = 0; i < 10; ++i)
        CHECK(!decider.look({{{9, 1, 1, 1, 1, 1}}, 100, 9, 0.01, 1, 4}, now,
                            [](const Costs& of) { return cut(of, 2); }));
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
    Decider decider(2);
    for (int i = 0; i < 5; ++i)
        CHECK(!decider.look({{{0, 0, 0}}, 10, 0, 0, 0}, {{0, 0, 1}}, [](const Costs&) {
            return std::vector<Owners>{{0, 1, 1}};
        }));
}
