// A flow around a body in two joined zones: prints what follows from it, the same for any layout, and writes
// the walls to files.
//   flow_ring FOLDER
#include <bit>
#include <cstdio>

#include "core/run/driver/showing.hpp"
#include "tests/solvers/flow/flow_ring.hpp"

using namespace strata;
using namespace strata::graph;

namespace {

template <int Dim>
void compute(team::Team& team, const std::string& folder) {
    tests::Ring<Dim> ring(3);
    ring.declare_geometry();
    ring.declare_distance();
    ring.declare_flow([](const Real3& x) {
        return flow::FlowState{
            .rho = 1 + 0.1 * x[0], .u = {x[1], 0.3 - x[0], Dim == 3 ? 0.2 : 0}, .p = 0.7 + 0.05 * x[1]};
    });
    const auto labels = ring.declare_surface({.mach = 0.3, .reynolds = 1e4}, {.mach = 0.3});
    const auto probes = flow::declare_probes(ring.graph, ring.graph.step(),
                                             {ring.zones,
                                              Dim,
                                              1.4,
                                              {{1.5, 0.7, 0.5}, {-1.5, -0.4, 0.6}, {0.2, 1.6, 0.9}},
                                              ring.nodes_of(),
                                              ring.centres_of()},
                                             ring.q.last());
    const auto bits = ring.graph.template scalar<std::int64_t>("bits", Reduce::sum);
    Task task = ring.graph.step().task("bits", ring.zones);
    task.run([from = task.need(ring.distance), sum = task.contribute(bits)](Here& here) {
        for_each(here.cells(), [&](int i, int j, int k) {
            here[sum] +=
                static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(here[from](i, j, k)) % 1000003);
        });
    });
    Simulation run(ring.graph, Members::of(team), {.crew = &team.crew()});
    const auto files = shown_files(ring.graph, run.resolved(), {flow::surface_shape(labels, Dim)},
                                   {labels.cp, labels.cf, labels.y_plus, labels.cell});
    const std::string out = folder + "/" + std::to_string(Dim);
    if (team.rank() == 0) begin_shown(files, out, false, 0);
    run.start();
    run.advance(1);
    write_shown(files, run, team, out, 1);
    const auto table = flow::surface_file(labels, 1);
    table->begin(run, team, out, 1, false);
    table->write(run, team, 1);
    if (team.rank() == 0) {
        std::printf("%d: %lld", Dim, static_cast<long long>(run.value(bits)));
        for (const double value : run.numbers(probes.values)) std::printf(" %a", value);
        std::printf("\n");
    }
    team.barrier();
}

}  // namespace

int main(int argc, char** argv) {
    return team::run(argc, argv, [&](team::Team& team) {
        compute<2>(team, argv[1]);
        compute<3>(team, argv[1]);
        return 0;
    });
}
