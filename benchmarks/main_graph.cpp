// strata-bench-graph: the benchmarks of teams, graphs and solvers, in one process.
#include <array>
#include <cstring>

#include "benchmarks/common/benchmark.hpp"
#include "benchmarks/graph/graph.hpp"
#include "benchmarks/team/team.hpp"

namespace {

using namespace strata::bench;

std::span<const Benchmark> graph_benchmarks() {
    static const std::array list = {
        team_layer::barrier,     team_layer::flag,           team_layer::read,
        team_layer::core_switch, team_layer::death,          graph_layer::tasks,
#ifdef STRATA_HAVE_TRANSPORT
        graph_layer::update,
#endif
        graph_layer::compile,    graph_layer::sweep_patches, graph_layer::balance_patches,
        graph_layer::overset};
    return list;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 4 && std::strcmp(argv[1], team_layer::kDeathMembers) == 0)
        return team_layer::death_members(argc, argv);
    Group alone;
    const std::array known = {graph_benchmarks()};
    return run_and_report(argc, argv, alone, known);
}
