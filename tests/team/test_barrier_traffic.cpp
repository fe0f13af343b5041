// Lines that a barrier moves, counted on machines that nobody here owns.
#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "core/launch/placement.hpp"
#include "core/machine/machine.hpp"
#include "core/team/barrier_traffic.hpp"
#include "core/team/seats.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::team;

namespace {

/// One member on each core of the machine.
Neighbourhood everywhere(const std::string& synthetic) {
    const machine::Machine machine = machine::read_machine({"synthetic:" + synthetic, false, false});
    launch::Placement placement;
    for (const machine::Core& core : machine.cores) placement.threads.push_back({{core.pus.front()}});
    return neighbourhood(machine, placement);
}

/// The order of arrival that is worst for a shared count: each member from another domain than the one
/// before.
std::vector<int> dealt_over_domains(const Neighbourhood& near) {
    std::vector<int> order(static_cast<std::size_t>(near.members)), turn(order.size()), seen(order.size(), 0);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t m = 0; m < order.size(); ++m) turn[m] = seen[static_cast<std::size_t>(near.domain[m])]++;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return turn[static_cast<std::size_t>(a)] < turn[static_cast<std::size_t>(b)];
    });
    return order;
}

Traffic of(const Neighbourhood& near, bool central) {
    return barrier_traffic(barrier_tree(near, kFanIn, central), near, dealt_over_domains(near));
}

}  // namespace

TEST_CASE("two members share one line, which moves twice a barrier; a shared count moves more often") {
    const Neighbourhood near{2, {0, 0}, {0, 0}};
    const std::vector<int> order = {0, 1};
    const Traffic tree = barrier_traffic(barrier_tree(near, kFanIn), near, order);
    CHECK(tree.within_cache == 2);
    CHECK(tree.all() == 2);
    CHECK(tree.longest_way == 2);  // to the second to write, then back to the first to read
    const Traffic central = barrier_traffic(barrier_tree(near, kFanIn, true), near, order);
    CHECK(central.longest_way > 2);
    CHECK(central.all() > 2);
}

TEST_CASE("whoever is told in a round looks at the word that the other writes; no word has two writers") {
    for (int slots = 2; slots <= 17; ++slots) {
        std::set<std::pair<int, int>> words;
        for (int round = 0; round < rounds_of(slots); ++round)
            for (int from = 0; from < slots; ++from) {
                const Telling told = telling(from, round, slots);
                CAPTURE(slots, round, from);
                CHECK(heard_from(told.to, round, slots) == from);
                CHECK(words.insert({told.line, told.which}).second);
                CHECK(told.line < slots * rounds_of(slots));
            }
    }
}

TEST_CASE("between domains a barrier of 256 members moves lines by the number of domains, not of members") {
    const Neighbourhood near = everywhere("pack:2 numa:4 l3:4 core:8 pu:1");
    REQUIRE(near.members == 256);
    const Traffic tree = of(near, false), central = of(near, true);
    CHECK(tree.between_domains > 0);
    CHECK(tree.between_domains <= 3 * 8);  // 8 domains, 3 rounds in which each tells another
    CHECK(central.between_domains >= 256);
    CHECK(tree.all() <= 3 * 256);
    CHECK(tree.longest_way < central.longest_way / 8);

    // Twice the members in as many domains: as many lines between domains. Twice the domains: no more than
    // in proportion, and the root's next level.
    const Traffic wider = of(everywhere("pack:2 numa:4 l3:4 core:16 pu:1"), false);
    CHECK(wider.between_domains == tree.between_domains);
    const Traffic more = of(everywhere("pack:4 numa:4 l3:4 core:8 pu:1"), false);
    CHECK(more.between_domains <= 3 * 16 + 16);
    CHECK(of(everywhere("pack:4 numa:4 l3:4 core:8 pu:1"), true).between_domains >= 512);
}

TEST_CASE("no line of a barrier has more readers or writers than one node has members") {
    for (const char* machine :
         {"pack:2 numa:4 l3:4 core:8 pu:1", "numa:2 l3:1 core:64 pu:1", "numa:1 core:12 pu:1"}) {
        const Neighbourhood near = everywhere(machine);
        const Traffic tree = of(near, false), central = of(near, true);
        INFO(machine);
        CHECK(tree.most_readers <= kFanIn);
        CHECK(tree.most_writers <= kFanIn);
        CHECK(central.most_readers >= near.members - 1);
        CHECK(central.most_writers == near.members);
    }
}

TEST_CASE("in what order members come changes little for the tree") {
    const Neighbourhood near = everywhere("pack:2 numa:4 l3:4 core:8 pu:1");
    std::vector<int> order(256);
    std::iota(order.begin(), order.end(), 0);
    const BarrierTree tree = barrier_tree(near, kFanIn);
    const Traffic by_number = barrier_traffic(tree, near, order), dealt = of(near, false);
    CHECK(by_number.between_domains <= 3 * 8);
    CHECK(dealt.between_domains <= 3 * 8);
}
