#include "core/balance/repair.hpp"

#include <numeric>

#include "tests/balance/sets.hpp"
#include "tests/catch.hpp"

using namespace strata::balance;
using namespace strata::tests;

namespace {

double longest(const std::vector<double>& costs, const Owners& owners, int processes) {
    return longest_time(costs, owners, std::vector<double>(static_cast<size_t>(processes), 1.0));
}

int moved(const Owners& before, const Owners& after) {
    int all = 0;
    for (size_t i = 0; i < before.size(); ++i) all += before[i] != after[i] ? 1 : 0;
    return all;
}

/// Each exchanges with the next.
std::vector<Exchanged> chain(int patches) {
    std::vector<Exchanged> pairs;
    for (int i = 0; i + 1 < patches; ++i) pairs.push_back({i, i + 1, 1});
    return pairs;
}

}  // namespace

TEST_CASE("a dear patch moves rather than many cheap ones") {
    CHECK(repaired(std::vector<double>{1, 1, 1, 1, 4}, {}, {0, 0, 0, 0, 0}, 2, 0) == Owners{0, 0, 0, 0, 1});
    // 8 of 64 are ten times as dear, and all of one process: 36 of 136 have to go.
    std::vector<double> costs(64, 1.0);
    Owners now(64, 0);
    for (size_t i = 0; i < 64; ++i) now[i] = i < 32 ? 0 : 1;
    for (size_t i = 3; i < 11; ++i) costs[i] = 10;
    const Owners next = repaired(costs, chain(64), now, 2, 1e-3);
    CHECK(longest(costs, next, 2) <= 1.02 * 68);
    CHECK(moved(now, next) <= 3 + 6);
}

TEST_CASE("of equal patches those at the edge of a part move, to the part behind it") {
    // Four parts of a chain: the first has four patches more than its share, the next one four less.
    const std::vector<double> costs(40, 1.0);
    Owners now(40), shares(40);
    for (int i = 0; i < 40; ++i) {
        now[static_cast<size_t>(i)] = i < 14 ? 0 : i < 20 ? 1 : i < 30 ? 2 : 3;
        shares[static_cast<size_t>(i)] = i / 10;
    }
    CHECK(repaired(costs, chain(40), now, 4, 0.1, 0) == shares);
    // The next one has its share, and the last one four less: it gets four that stay together.
    for (int i = 0; i < 40; ++i) now[static_cast<size_t>(i)] = i < 14 ? 0 : i < 24 ? 1 : i < 34 ? 2 : 3;
    const Owners next = repaired(costs, chain(40), now, 4, 0.1, 0);
    CHECK(longest(costs, next, 4) == 10);
    CHECK(moved(now, next) == 4);
    CHECK(bytes_between(chain(40), next) == 4);  // 3 at first
}

TEST_CASE("what is balanced, or cannot be better than its dearest patch, stays") {
    const Owners even{0, 1, 2, 0, 1, 2};
    CHECK(repaired(std::vector<double>(6, 1.0), {}, even, 3, 0) == even);
    const Owners dearest{0, 1, 1, 1, 2};
    CHECK(repaired(std::vector<double>{10, 1, 1, 1, 1}, {}, dearest, 3, 0) == dearest);
    CHECK(repaired(std::vector<double>(4, 0.0), {}, {0, 0, 0, 0}, 2, 0) == Owners{0, 0, 0, 0});
    CHECK(repaired({}, {}, {}, 2, 0).empty());
}

TEST_CASE("bytes between processes that cost more than they relieve stop a move") {
    const std::vector<double> costs{1, 1, 1, 1};
    const std::vector<Exchanged> pairs{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}};
    CHECK(moved({0, 0, 0, 0}, repaired(costs, pairs, {0, 0, 0, 0}, 2, 0.1)) == 2);
    CHECK(repaired(costs, pairs, {0, 0, 0, 0}, 2, 1) == Owners{0, 0, 0, 0});
}

TEST_CASE("small patches anywhere are shared out as well as can be, and few move") {
    std::mt19937_64 random(3);
    for (int run = 0; run < 200; ++run) {
        const int processes = pick(random, 2, 12), patches = 40 * processes;
        const std::vector<double> costs = whole_costs(random, patches, 10);
        Owners now;
        for (int i = 0; i < patches; ++i) now.push_back(pick(random, 0, processes - 1));
        const Owners next = repaired(costs, chain(patches), now, processes, 1e-3);
        CAPTURE(run, processes);
        const double mean = std::accumulate(costs.begin(), costs.end(), 0.0) / processes;
        CHECK(longest(costs, next, processes) <= 1.02 * mean + 1);  // the cheapest patch costs 1
        std::vector<double> loads(static_cast<size_t>(processes), 0.0);
        for (size_t i = 0; i < now.size(); ++i) loads[static_cast<size_t>(now[i])] += costs[i];
        double above = 0;  // what has to move
        for (const double load : loads) above += std::max(0.0, load - mean);
        double went = 0;
        for (size_t i = 0; i < now.size(); ++i) went += now[i] != next[i] ? costs[i] : 0;
        CHECK(went <= 1.2 * above);
        CHECK(next == repaired(costs, chain(patches), now, processes, 1e-3));
    }
}
