// Graphs over several nodes: the same bits as on one, and an end when a process dies.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/graph/lines.hpp"
#include "tests/graph/simulation/measured.hpp"
#include "tests/graph/temporary.hpp"
#include "tests/team/nodes_run.hpp"

using namespace strata;
using namespace strata::team::testing;

namespace {

using strata::tests::TemporaryFolder;

/// What a program finds with so many ranks, so many of them on each node (0: without mpirun).
std::string output_of(const std::string& program, std::vector<std::string> words, int ranks, int per_node,
                      std::vector<launch::Setting> more = {}) {
    auto settings = per_node > 0 ? nodes_of(per_node) : layout("1x1", true);
    settings.insert(settings.end(), more.begin(), more.end());
    Run run(std::move(words), settings,
            per_node > 0 ? under_mpirun(ranks, program) : std::vector<std::string>{program});
    const Done done = run.wait();
    INFO(ranks << " ranks, " << per_node << " on a node\n" << done.err);
    REQUIRE(done.status == 0);
    REQUIRE(has(done.out, "patch 0 "));
    CHECK(run.nobody_left());
    return graph::testing::sorted_lines(done.out);
}

/// For long: ranks, and how many of them are taken for a node.
const std::vector<std::pair<int, int>> kMachines{{2, 1}, {3, 1}, {4, 2}, {6, 3}};

/// Every second seed holds messages back. Members of the first two have two threads, the others one.
std::vector<launch::Setting> settings_of(int seed) {
    return {{"STRATA_MESSAGE_DELAY", seed % 2 == 0 ? "0" : "3e-4"},
            {"OMP_NUM_THREADS", seed > 2 ? "1" : "2"}};
}

/// 500 steps of a graph on all those machines.
void same_for_seeds(const std::string& name, int seeds) {
    const std::string expected = output_of(TEST_MEMBER, {name, "500"}, 1, 0);
    for (int seed = 1; seed <= seeds; ++seed)
        for (const auto& [ranks, per_node] : kMachines) {
            CAPTURE(name, seed, ranks, per_node);
            CHECK(output_of(TEST_MEMBER,
                            {name, "500", fmt::format("seed={}", seed), fmt::format("move={}", 3 + seed)},
                            ranks, per_node, settings_of(seed)) == expected);
        }
}

}  // namespace

TEST_CASE("over nodes a graph gives the same bits as on one") {
    const auto same = [](const std::string& names, const std::vector<std::pair<int, int>>& machines) {
        const std::string expected = output_of(TEST_MEMBER, {names, "40"}, 1, 0);
        for (const auto& [ranks, per_node] : machines) {
            CAPTURE(names, ranks, per_node);
            CHECK(output_of(TEST_MEMBER, {names, "40"}, ranks, per_node) == expected);
        }
    };
    same("mixed+families+settled", {{2, 1}, {4, 1}, {4, 2}});
    // On two nodes of one and of two processes each they are run by the next test.
    same("heat-round+some+factored+walk+asks+deep", {{4, 1}});
}

TEST_CASE("nor do a random order, delays and patches that go to other nodes change a bit") {
    for (const auto& [names, steps] :
         {std::pair("heat-round+some-round+factored+walk+asks+deep", "30"), std::pair("mixed-round", "14")}) {
        const std::string expected = output_of(TEST_MEMBER, {names, steps}, 1, 0);
        CAPTURE(names);
        CHECK(output_of(TEST_MEMBER, {names, steps, "seed=1", "move=4"}, 2, 1) == expected);
        CHECK(output_of(TEST_MEMBER, {names, steps, "seed=2", "move=3"}, 4, 2,
                        {{"STRATA_MESSAGE_DELAY", "2e-4"}}) == expected);
    }
}

TEST_CASE("patches move by measured cost to processes of other nodes") {
    const auto ran = [](int ranks, int per_node) {
        const std::string out = output_of(TEST_MEMBER, {"quarter", "200"}, ranks, per_node);
        return std::pair(std::stod(out.substr(out.find("efficiency") + 10)),
                         out.substr(out.find("patch 0 "), 40));
    };
    const std::string alone = ran(1, 0).second;
    const double efficiency = graph::testing::first_good_of_five(
        [&] {
            const auto [found, values] = ran(2, 1);
            CHECK(values == alone);
            return found;
        },
        [](double found) { return found >= 0.85; });
    CHECK(efficiency >= 0.85);
    CHECK(ran(4, 2).second == alone);
}

TEST_CASE("sweeps go on from node to node, patch by patch") {
    const std::string names = "sweeps+sweeps-boxes";
    const std::string expected = output_of(TEST_MEMBER, {names, "12"}, 1, 0);
    CHECK(output_of(TEST_MEMBER, {names, "12"}, 2, 1) == expected);
    CHECK(output_of(TEST_MEMBER, {names, "12", "seed=1", "move=4"}, 2, 1) == expected);
    CHECK(output_of(TEST_MEMBER, {names, "12", "seed=2", "move=3"}, 4, 2,
                    {{"STRATA_MESSAGE_DELAY", "2e-4"}}) == expected);
}

TEST_CASE("implicit transport has the same bits over nodes as on one process") {
    for (const std::string method : {"gauss-seidel", "lines"}) {
        const auto solved = [&](int ranks, int per_node) {
            auto settings = per_node > 0 ? nodes_of(per_node) : layout("1x1", true);
            Run run(
                {method, "16", "4", "4", "0.02"}, settings,
                per_node > 0 ? under_mpirun(ranks, TEST_IMPLICIT) : std::vector<std::string>{TEST_IMPLICIT});
            const Done done = run.wait();
            INFO(ranks << " ranks\n" << done.err);
            REQUIRE(done.status == 0);
            return done.out.substr(0, done.out.find("seconds"));
        };
        const std::string alone = solved(1, 0);
        CAPTURE(method);
        CHECK(has(alone, "residual"));
        CHECK(solved(2, 1) == alone);
        CHECK(solved(4, 2) == alone);
    }
}

TEST_CASE("solvers of any kind give the same bits over nodes") {
    for (const auto& [names, steps] :
         {std::pair("gradients", "5"), std::pair("fft+overset+refined+zones+narrow", "12")}) {
        const std::string expected = output_of(TEST_SOLVERS, {names, steps}, 1, 0);
        CAPTURE(names);
        CHECK(output_of(TEST_SOLVERS, {names, steps}, 2, 1) == expected);
        CHECK(output_of(TEST_SOLVERS, {names, steps, "seed=1", "move=3"}, 4, 2) == expected);
    }
}

namespace {

std::string particles(int hops, double fast, int seed, int every, int ranks, int per_node,
                      const std::string& kind = "drift") {
    return output_of(TEST_PARTICLES,
                     {kind, "500", std::to_string(hops), fmt::format("{}", fast), "1", std::to_string(seed),
                      std::to_string(every)},
                     ranks, per_node);
}

}  // namespace

TEST_CASE("particles go to other nodes") {
    const std::string drift = particles(1, 2.9, 0, 0, 1, 0);
    CHECK(has(drift, "number 1728\n"));
    CHECK(particles(1, 2.9, 0, 0, 2, 1) == drift);
    CHECK(particles(1, 2.9, 3, 23, 4, 2) == drift);
    const std::string slow = particles(1, 0.05, 0, 0, 1, 0);
    CHECK(particles(1, 0.05, 3, 23, 4, 2, "told-drift") == slow);
    const std::string far = particles(0, 11, 0, 0, 1, 0);
    CHECK(particles(0, 11, 5, 50, 4, 2) == far);
}

TEST_CASE("halos of particles reach to other nodes", "[halos]") {
    const auto near = [](int seed, int every, int ranks, int per_node, const std::string& kind = "near",
                         std::vector<launch::Setting> more = {}) {
        return output_of(TEST_PARTICLES,
                         {kind, "60", "1", "0.05", "1", std::to_string(seed), std::to_string(every)}, ranks,
                         per_node, std::move(more));
    };
    const std::string one = near(0, 0, 1, 0);
    CHECK(near(0, 0, 2, 1) == one);
    CHECK(near(2, 17, 4, 2, "near", {{"STRATA_MESSAGE_DELAY", "2e-4"}}) == one);
    const std::string narrow = near(0, 0, 1, 0, "near-narrow");
    CHECK(near(3, 13, 3, 1, "near-narrow") == narrow);
    const std::string half = near(0, 0, 1, 0, "near-half");
    CHECK(near(3, 13, 3, 1, "near-half") == half);
    CHECK(near(2, 17, 4, 2, "near-half", {{"STRATA_MESSAGE_DELAY", "2e-4"}}) == half);
    const std::string open = near(0, 0, 1, 0, "near-open");
    CHECK(near(3, 13, 3, 1, "near-open") == open);
    const TemporaryFolder folder;
    const auto part = [&](int steps, int ranks, int per_node, const std::string& file) {
        return output_of(
            TEST_PARTICLES,
            {"near", std::to_string(steps), "1", "0.05", "1", "0", "0", file + "=" + folder.path().string()},
            ranks, per_node);
    };
    (void)part(33, 2, 1, "save");  // between two renewals
    CHECK(part(60, 3, 1, "restore") == one);
}

TEST_CASE("lists of neighbours are made again with the particles of other nodes, bit for bit") {
    const auto bits = [](int ranks, int per_node) {
        auto settings = per_node > 0 ? nodes_of(per_node) : layout("1x1", true);
        Run run({}, settings,
                per_node > 0 ? under_mpirun(ranks, TEST_MELT) : std::vector<std::string>{TEST_MELT});
        const Done done = run.wait();
        INFO(ranks << " ranks\n" << done.err);
        REQUIRE(done.status == 0);
        return done.out.substr(done.out.find("bits"));
    };
    const std::string alone = bits(1, 0);
    CHECK(bits(2, 1) == alone);
    CHECK(bits(4, 2) == alone);
}

TEST_CASE("values are the same for many orders, delays and moves", "[.][soak-heat]") {
    for (const std::string name : {"heat", "heat-round"}) same_for_seeds(name, 8);
}

TEST_CASE("long messages are sent on while their sender waits for something else") {
    // Open MPI sends what is longer than that only while both ends call it.
    // Open MPI 5 sees no way from an address of this machine to itself but by lo.
    const std::vector<launch::Setting> long_from_256{{"OMPI_MCA_btl", "tcp,self"},
                                                     {"OMPI_MCA_btl_tcp_if_include", "lo"},
                                                     {"OMPI_MCA_btl_tcp_eager_limit", "256"},
                                                     {"OMPI_MCA_btl_tcp_rndv_eager_limit", "256"}};
    const std::string expected = output_of(TEST_MEMBER, {"mixed+walk", "40"}, 1, 0);
    CHECK(output_of(TEST_MEMBER, {"mixed+walk", "40"}, 8, 2, long_from_256) == expected);
}

// Their tasks are many, and so are their delays: half a minute or more each time.
TEST_CASE("values of all kinds are the same for many orders, delays and moves", "[.][soak-mixed]") {
    same_for_seeds("mixed", 8);
}

TEST_CASE("so are they where the grid is periodic", "[.][soak-round]") { same_for_seeds("mixed-round", 8); }

TEST_CASE("solvers' values are the same for many orders, delays and moves", "[.][soak-solvers]") {
    for (const std::string name : {"gradients", "fft", "overset", "refined", "zones", "narrow"}) {
        const std::string expected = output_of(TEST_SOLVERS, {name, "30"}, 1, 0);
        for (int seed = 1; seed <= 6; ++seed)
            for (const auto& [ranks, per_node] : kMachines) {
                CAPTURE(name, seed, ranks, per_node);
                CHECK(output_of(TEST_SOLVERS,
                                {name, "30", fmt::format("seed={}", seed), fmt::format("move={}", 2 + seed)},
                                ranks, per_node, settings_of(seed)) == expected);
            }
    }
}

TEST_CASE("particles are the same for many orders, delays and moves", "[.][soak-particles]") {
    const std::string drift = particles(1, 2.9, 0, 0, 1, 0), far = particles(0, 11, 0, 0, 1, 0);
    for (int seed = 1; seed <= 6; ++seed)
        for (const auto& [ranks, per_node] : kMachines) {
            CAPTURE(seed, ranks, per_node);
            CHECK(particles(1, 2.9, seed, 10 * seed + 3, ranks, per_node) == drift);
            CHECK(particles(0, 11, seed, 7 * seed, ranks, per_node) == far);
        }
}

TEST_CASE("a process of another node that is killed in the middle of a step ends the run with its name") {
    Run run({"mixed", "1000000", "move=3", "die=9"}, nodes_of(1), under_mpirun(3, TEST_MEMBER));
    const Done done = run.wait();
    INFO(done.err);
    CHECK(done.status != 0);
    CHECK(has(done.err, "member 1"));
    CHECK(has(done.err, "SIGKILL"));
    CHECK(run.nobody_left());
}
