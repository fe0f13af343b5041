// The plans of graphs as the processes of a team make them, as raw text (plan_text.hpp).
//   plan_member THREADS NAME...     NAME: as planned_graphs() knows
// For each graph and process a line "plan NAME RANK BYTES" and so many bytes of text.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "core/team/team.hpp"
#include "tests/graph/lines.hpp"
#include "tests/graph/plans/plan_graphs.hpp"
#include "tests/graph/plans/plan_text.hpp"

using namespace strata;

int main(int argc, char** argv) {
    return team::run(argc, argv, [&](team::Team& team) {
        const graph::Members members = graph::Members::of(team);
        std::uint64_t serial = 0;
        for (int i = 2; i < argc; ++i, serial += 2)
            for (const tests::PlannedGraph& each : tests::planned_graphs()) {
                if (each.name != argv[i]) continue;
                tests::with_plan(each, members, std::atoi(argv[1]), serial, [&](graph::Plan& plan) {
                    const std::string text = tests::raw_text(plan);
                    graph::testing::print_all(
                        team, fmt::format("plan {} {} {}\n{}", each.name, team.rank(), text.size(), text));
                });
            }
        return 0;
    });
}
