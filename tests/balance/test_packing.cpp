#include <set>

#include "core/balance/grouping.hpp"
#include "core/balance/packing.hpp"
#include "tests/balance/sets.hpp"
#include "tests/catch.hpp"

using namespace strata::balance;
using namespace strata::tests;

TEST_CASE("largest first stays within Graham's 4/3 - 1/(3m) of the optimum, and meets his worst case") {
    std::mt19937_64 random(1);
    for (int i = 0; i < 150; ++i) {
        const int m = pick(random, 2, 3);
        const std::vector<double> costs = whole_costs(random, pick(random, m, 8)),
                                  speeds(static_cast<size_t>(m), 1.0);
        const double best = shortest_of_all(costs, speeds);
        const double found = longest_time(costs, pack_largest_first(costs, speeds), speeds);
        CHECK(found >= best);
        CHECK(found <= best * (4.0 / 3 - 1.0 / (3 * m)) + 1e-9);
    }
    // 2m + 1 jobs on which the bound is attained: m = 3, optimum 9, found 11.
    const std::vector<double> worst = {5, 5, 4, 4, 3, 3, 3}, three(3, 1.0);
    CHECK(longest_time(worst, pack_largest_first(worst, three), three) == 11);
    CHECK(longest_time(worst, pack(worst, three), three) == 9);
}

TEST_CASE("packing finds the optimum of every small set, its exchanges alone that of more than half") {
    std::mt19937_64 random(2);
    int sets = 0, by_exchange = 0, by_search = 0;
    for (int i = 0; i < 200; ++i) {
        std::vector<double> speeds;
        for (int p = pick(random, 2, 3); p > 0; --p) speeds.push_back(i % 2 == 0 ? 1 : pick(random, 1, 4));
        const std::vector<double> costs = whole_costs(random, pick(random, 6, 9));
        const double best = shortest_of_all(costs, speeds);
        Owners improved =
            pack_multifit(costs, speeds, longest_time(costs, pack_largest_first(costs, speeds), speeds));
        if (improved.empty()) improved = pack_largest_first(costs, speeds);
        improve(costs, speeds, improved);
        CHECK(longest_time(costs, improved, speeds) >= best * (1 - 1e-12));
        by_exchange += longest_time(costs, improved, speeds) <= best * (1 + 1e-9) ? 1 : 0;
        by_search += longest_time(costs, pack(costs, speeds), speeds) <= best * (1 + 1e-9) ? 1 : 0;
        CHECK(packing_bound(costs, speeds) <= best * (1 + 1e-12));
        ++sets;
    }
    INFO("by exchanges alone " << by_exchange << " of " << sets);
    CHECK(by_search == sets);
    CHECK(by_exchange * 2 > sets);
}

TEST_CASE("improving never makes the longest time longer, and stops where its effort ends") {
    std::mt19937_64 random(3);
    for (int i = 0; i < 30; ++i) {
        const std::vector<double> costs = whole_costs(random, 200, 1000), speeds = {1, 1, 2, 2, 3, 5, 8};
        Owners owners;
        for (size_t k = 0; k < costs.size(); ++k) owners.push_back(pick(random, 0, 6));
        Owners untouched = owners;
        const double before = longest_time(costs, owners, speeds);
        improve(costs, speeds, untouched, 0, 0);
        CHECK(untouched == owners);
        improve(costs, speeds, owners);
        CHECK(longest_time(costs, owners, speeds) < before);
        CHECK(longest_time(costs, owners, speeds) <= packing_bound(costs, speeds) * 1.0002);
    }
}

TEST_CASE("overlaps are those of every pair of boxes") {
    std::mt19937_64 random(4);
    std::vector<Box> boxes;
    for (int i = 0; i < 120; ++i) {
        Box box{};
        for (size_t d = 0; d < 3; ++d) {
            box.low[d] = pick(random, 0, 30);
            box.high[d] = box.low[d] + pick(random, 0, 8);
        }
        boxes.push_back(box);
    }
    std::set<std::pair<int, int>> expected, found;
    for (int a = 0; a < 120; ++a)
        for (int b = a + 1; b < 120; ++b) {
            bool meet = true;
            for (size_t d = 0; d < 3; ++d)
                meet = meet && boxes[size_t(a)].low[d] <= boxes[size_t(b)].high[d] &&
                       boxes[size_t(b)].low[d] <= boxes[size_t(a)].high[d];
            if (meet) expected.insert({a, b});
        }
    const std::vector<Exchanged> pairs = overlaps(boxes);
    for (const Exchanged& e : pairs) found.insert({e.a, e.b});
    CHECK(found == expected);
    CHECK(pairs.size() == expected.size());
    CHECK(overlaps({}).empty());
}

TEST_CASE("connected patches share a process while there is room, and no longer") {
    // Two chains of four; each fits a process.
    const std::vector<double> costs = {4, 4, 3, 3, 2, 2, 1, 1}, speeds = {1, 1};
    const std::vector<Exchanged> chains = {{0, 2, 8}, {2, 4, 8}, {4, 6, 8}, {1, 3, 8}, {3, 5, 8}, {5, 7, 8}};
    const Owners grouped = pack_connected(costs, speeds, chains, 10, Preference::connected);
    CHECK(bytes_between(chains, grouped) == 0);
    CHECK(longest_time(costs, grouped, speeds) == 10);
    const Owners tight = pack_connected(costs, speeds, {{{0, 1, 8}}}, 5, Preference::connected);
    CHECK(tight[0] != tight[1]);

    // Preference by amount: the last patch talks to both, more with the fuller one.
    const std::vector<double> three = {5, 4, 1};
    const std::vector<Exchanged> both = {{0, 2, 100}, {1, 2, 1}};
    CHECK(pack_connected(three, speeds, both, 6, Preference::bytes)[2] == 0);
    const Owners least_loaded = pack_connected(three, speeds, both, 6, Preference::connected);
    CHECK(least_loaded[2] == least_loaded[1]);
}
