#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "core/team/barrier.hpp"
#include "tests/catch.hpp"
#include "tests/team/shared.hpp"

using namespace strata;
using namespace strata::team;
using namespace strata::team::testing;

namespace {

/// Each member counts its rounds in plain memory; between two barriers everybody's count must be the same.
void meet(const SharedBarrier& shared, int members, int rounds, const Patience& patience) {
    std::vector<int> count(static_cast<std::size_t>(members) * kApart / sizeof(int), 0);
    const auto of = [&](int m) -> int& { return count[static_cast<std::size_t>(m) * kApart / sizeof(int)]; };
    std::atomic<int> wrong{0};
    as_members(members, [&](int m) {
        Barrier barrier = shared.of(m, patience);
        for (int round = 1; round <= rounds; ++round) {
            of(m) = round;
            barrier.wait();
            for (int other = 0; other < members; ++other)
                if (of(other) != round) ++wrong;
            barrier.wait();
        }
    });
    CHECK(wrong == 0);
}

/// All members that arrive below a node, and that nobody is forgotten or counted twice.
void check_tree(const BarrierTree& tree, int members, int fan_in) {
    REQUIRE(static_cast<int>(tree.node_of_member.size()) == members);
    std::vector<int> arriving(tree.nodes.size(), 0);
    for (const int node : tree.node_of_member) ++arriving.at(static_cast<std::size_t>(node));
    int roots = 0;
    for (const BarrierNode& node : tree.nodes) {
        if (node.parent < 0)
            ++roots;
        else
            ++arriving.at(static_cast<std::size_t>(node.parent));
        CHECK(node.expected <= std::max(fan_in, 1));
    }
    CHECK(roots == 1);
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) CHECK(arriving[n] == tree.nodes[n].expected);
}

}  // namespace

TEST_CASE("nobody leaves a barrier before all have come, for one member to many") {
    for (const int members : {1, 2, 3, 7, 16}) {
        const SharedBarrier shared({members, {}, {}});
        meet(shared, members, 200, patient());
    }
    const SharedBarrier shared({2, {}, {}});
    meet(shared, 2, 500, Patience{});
}

TEST_CASE("a tree of any depth is a barrier too") {
    for (const int fan_in : {2, 3, 8}) {
        const SharedBarrier shared({23, {}, {}}, fan_in);
        check_tree(shared.tree, 23, fan_in);
        meet(shared, 23, 50, patient());
    }
}

TEST_CASE("counts that wrap around 2^32 do no harm") {
    // Twice: where the number of the barrier wraps, and where only the members' count does.
    for (const std::uint32_t before : {0xffffffffU - 20, 0xffffffffU / 3 - 10, 0x80000000U - 10}) {
        const SharedBarrier shared({5, {}, {}}, 3, false, before);
        meet(shared, 5, 40, patient());
    }
}

TEST_CASE("the tree of a barrier follows caches, then domains") {
    // 2 domains, 2 caches each, 4 members a cache.
    Neighbourhood near{16, {}, {}};
    for (int m = 0; m < 16; ++m) {
        near.cache.push_back(m / 4);
        near.domain.push_back(m / 8);
    }
    const BarrierTree tree = barrier_tree(near, 8);
    check_tree(tree, 16, 8);
    REQUIRE(tree.nodes.size() == 7);  // 4 caches, 2 domains, 1 root
    for (int m = 0; m < 16; ++m)
        CHECK(tree.node_of_member[static_cast<std::size_t>(m)] ==
              tree.node_of_member[static_cast<std::size_t>(m / 4 * 4)]);
    std::set<int> domains;
    for (int m = 0; m < 8; m += 4)
        domains.insert(
            tree.nodes[static_cast<std::size_t>(tree.node_of_member[static_cast<std::size_t>(m)])].parent);
    CHECK(domains.size() == 1);
}

TEST_CASE("members of one cache are one node, and a group that is too large is divided evenly") {
    CHECK(barrier_tree({8, std::vector<int>(8, 5), std::vector<int>(8, 0)}, 8).nodes.size() == 1);
    const BarrierTree nine = barrier_tree({9, {}, {}}, 8);
    check_tree(nine, 9, 8);
    REQUIRE(nine.nodes.size() == 3);
    CHECK(std::min(nine.nodes[0].expected, nine.nodes[1].expected) == 4);
    const BarrierTree flat = barrier_tree({64, {}, {}}, 8, true);
    CHECK(flat.nodes.size() == 1);
    check_tree(barrier_tree({512, {}, {}}, 8), 512, 8);
}

TEST_CASE("a barrier with a dead member ends with the member's name") {
    constexpr int members = 5, dead = 3;
    const SharedBarrier shared({members, {}, {}}, 2);
    const Zeros memory(sizeof(Failure));
    auto* failure = new (memory.get()) Failure;
    std::atomic<int> left{0};
    as_members(members, [&](int m) {
        if (m == dead) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            failure->tell(dead, 4711, "was killed by SIGKILL");
            failure->tell(1, 1, "comes too late");
            return;
        }
        Barrier barrier = shared.of(m, {failure, m % 2 == 0 ? 0 : 1'000'000, 0});
        try {
            barrier.wait();
        } catch (const MemberLost& lost) {
            // Catch2's assertions are for one thread.
            if (lost.member() == dead && lost.message() == "member 3 (process 4711) was killed by SIGKILL")
                ++left;
        }
    });
    CHECK(left == members - 1);
}

TEST_CASE(
    "a barrier that waits for a member that left in good order says so, and its last one is not disturbed") {
    constexpr int members = 3;
    const SharedBarrier shared({members, {}, {}});
    const Zeros memory(Departures::bytes(members));
    auto* departures = new (memory.get()) Departures;
    std::atomic<int> told{0};
    as_members(members, [&](int m) {
        Barrier barrier = shared.of(m, patient(), departures);
        for (int round = 0; round < 4; ++round) barrier.wait();
        if (m == 1) return departures->leave(m, barrier.count());
        try {
            barrier.wait();
        } catch (const MemberLost& lost) {
            if (lost.member() == 1 && lost.message().find("after 4 barriers") != std::string::npos) ++told;
        }
    });
    CHECK(told == 2);
}

TEST_CASE("64 members on whatever CPUs there are pass 10^4 barriers", "[many]") {
    constexpr int members = 64, rounds = 10'000;
    const SharedBarrier shared({members, {}, {}}, kFanIn, true);
    std::vector<int> last(members, 0);
    as_members(members, [&](int m) {
        Barrier barrier = shared.of(m, patient());
        for (int round = 0; round < rounds; ++round) barrier.wait();
        last[static_cast<std::size_t>(m)] = static_cast<int>(barrier.count());
    });
    CHECK(last == std::vector<int>(members, rounds));
}
