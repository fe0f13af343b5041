// New owners by measured costs: near the present ones.
#include <algorithm>
#include <random>
#include <string>

#include "core/graph/expand/assign/assigning.hpp"
#include "core/graph/expand/assign/reassigning.hpp"
#include "tests/catch.hpp"
#include "tests/graph/expand/loads.hpp"
#include "tests/graph/expand/subdomains.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::graph::detail;
using namespace strata::tests;

namespace {

int moved(const Assignment& before, const Assignment& after) {
    int all = 0;
    for (const FamilyId f : before.owner.ids())
        for (std::size_t p = 0; p < before.owner[f].size(); ++p)
            all += before.owner[f][p] != after.owner[f][p] ? 1 : 0;
    return all;
}

}  // namespace

TEST_CASE("where patches that METIS placed become dear, hardly more of them move than have to") {
    graph::testing::Subdomains subdomains;
    for (const int processes : {2, 3, 4}) {
        const Assignment now = assign(subdomains.graph, processes, Library::where_found);
        PatchCosts costs(1, std::vector<double>(64, 1e-3));
        int dear = 0;  // all of process 0
        for (std::size_t p = 0; p < 64 && dear < 8; ++p)
            if (now.owner.front()[p] == 0) costs[FamilyId(0)][p] = 10e-3, ++dear;
        CAPTURE(processes);
        const std::vector<double> before = loads(costs, now, processes);
        REQUIRE(mean(before) < 0.7 * longest(before));
        const Assignment next = reassign(subdomains.graph, processes, costs, now.owner);
        const std::vector<double> after = loads(costs, next, processes);
        CHECK(mean(after) >= 0.85 * longest(after));
        CHECK(moved(now, next) < 64 / 4);
        CHECK(moved(next, reassign(subdomains.graph, processes, costs, next.owner)) == 0);
    }
}

TEST_CASE("owners near the present ones are taken unless a cut is better by 5 %, or moves no more patches") {
    if (!is_planned("transport-heat")) CANNOT_TRY("the solvers are not built");
    std::mt19937_64 random(11);
    int cuts = 0, kept = 0;
    for (const std::string name : {"transport-heat", "overset", "fft", "families"})
        for (const int processes : {2, 3, 4, 5}) {
            const Graph& graph = planned(name);
            const Exchanges exchanges = find_exchanges(graph);
            const Assignment now = assign(graph, processes);
            PatchCosts costs = declared_costs(graph);
            for (auto& family : costs)
                for (double& cost : family) cost *= random() % 5 == 0 ? 8 : 1;
            const Assignment next = reassign(graph, processes, costs, now.owner);
            Assignment cut{share_apart(graph, costs, {}, processes), {}};
            const auto time = [&](const Assignment& of) {
                return step_time(graph, costs, exchanges, of.owner, processes);
            };
            CAPTURE(name, processes);
            CHECK(0.95 * time(next) <= time(cut) * (1 + 1e-12));
            if (next.owner == cut.owner) {
                ++cuts;
                continue;
            }
            ++kept;
            CHECK((moved(now, next) < moved(now, cut) || time(next) < time(cut)));
        }
    CHECK(cuts > 0);
    CHECK(kept > 0);
}
