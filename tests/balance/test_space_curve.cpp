#include <cstdlib>

#include "core/balance/space_curve.hpp"
#include "tests/balance/sets.hpp"
#include "tests/catch.hpp"

using namespace strata::balance;
using namespace strata::tests;

TEST_CASE("Hilbert's curve visits every cell of a cube, each one step from the last") {
    // A cube of 8^3 cells at the low corner is the beginning of the curve.
    std::vector<std::array<std::uint32_t, 3>> at(512);
    std::vector<int> seen(512, 0);
    for (std::uint32_t x = 0; x < 8; ++x)
        for (std::uint32_t y = 0; y < 8; ++y)
            for (std::uint32_t z = 0; z < 8; ++z) {
                const std::uint64_t place = hilbert_place({x, y, z});
                REQUIRE(place < 512);
                at[place] = {x, y, z};
                ++seen[place];
            }
    for (size_t i = 0; i < 512; ++i) CHECK(seen[i] == 1);
    for (size_t i = 1; i < 512; ++i) {
        int steps = 0;
        for (size_t d = 0; d < 3; ++d) steps += std::abs(int(at[i][d]) - int(at[i - 1][d]));
        CHECK(steps == 1);
    }
}

TEST_CASE("a sequence is cut exactly: no other cuts are faster") {
    std::mt19937_64 random(5);
    for (int round = 0; round < 300; ++round) {
        std::vector<double> speeds;
        for (int p = pick(random, 1, 4); p > 0; --p)
            speeds.push_back(round % 2 == 0 ? 1 : pick(random, 1, 5));
        const std::vector<double> costs = whole_costs(random, pick(random, 0, 10));
        // By dynamic programming: best[p][i], the first i patches on the first p processes.
        std::vector<double> best(costs.size() + 1, 1e300);
        best[0] = 0;
        for (const double speed : speeds) {
            std::vector<double> next(best.size(), 1e300);
            for (size_t from = 0; from < best.size(); ++from) {
                double load = 0;
                for (size_t to = from; to < best.size(); ++to) {
                    next[to] = std::min(next[to], std::max(best[from], load / speed));
                    if (to < costs.size()) load += costs[to];
                }
            }
            best = next;
        }
        const Owners owners = split_sequence(costs, speeds);
        CHECK(longest_time(costs, owners, speeds) == Approx(best.back()).epsilon(1e-12));
        CHECK(std::is_sorted(owners.begin(), owners.end()));
    }
}

TEST_CASE("points that coincide keep their order") {
    const std::vector<Point> same(5, Point{1, 2, 3});
    CHECK(hilbert_order(same) == std::vector<int>{0, 1, 2, 3, 4});
    CHECK(hilbert_order({}).empty());
}
