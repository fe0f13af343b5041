// Grids that overlap: prints counts of cells and what follows from their status and values, the same for any
// layout.
#include <bit>
#include <cstdio>
#include <utility>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "tests/solvers/overset/overset_grids.hpp"

using namespace strata;
using namespace strata::graph;

namespace {

template <int Dim>
void compute(team::Team& team, std::vector<tests::OversetMesh> meshes, int patch) {
    tests::OversetGrids<Dim> grids(std::move(meshes), patch);
    grids.declare_exchange([](const Real3& x) { return std::sin(x[0]) + x[1] * x[1] - x[2]; });
    const auto bits = grids.graph.template scalar<std::int64_t>("bits", Reduce::sum);
    Task task = grids.graph.step().task("bits", grids.zones);
    task.run([is = task.need(grids.found().status), from = task.need(grids.got.at(1)),
              sum = task.contribute(bits)](Here& here) {
        for_each(here.cells(), [&](int i, int j, int k) {
            const auto value = std::bit_cast<std::uint64_t>(here[from](i, j, k)) % 1000003;
            here[sum] +=
                (1 + here[is](i, j, k)) * (1 + i + 7 * j + 31 * k) + static_cast<std::int64_t>(value);
        });
    });
    Simulation run(grids.graph, Members::of(team), {.crew = &team.crew()});
    run.start();
    run.advance(2);
    if (team.rank() == 0) {
        std::printf("%lld", static_cast<long long>(run.value(bits)));
        for (const std::int64_t n : run.numbers(grids.found().counts))
            std::printf(" %lld", static_cast<long long>(n));
        for (const double r : run.value(grids.found().ratios)) std::printf(" %a", r);
        std::printf("\n");
    }
    team.barrier();
}

}  // namespace

int main(int argc, char** argv) {
    return team::run(argc, argv, [&](team::Team& team) {
        compute<2>(team,
                   {tests::brick_mesh<2>("background", {60, 50, 1}, {-3, -2.5, 0}, {3, 2.5, 0}, 0.03),
                    tests::ring_mesh<2>("ring", 40, 16, {0.1, 0.05, 0}, 0.5, 3)},
                   9);
        std::vector<tests::OversetMesh> boxes{
            tests::brick_mesh<3>("outer", {20, 18, 16}, {0, 0, 0}, {2, 2, 2}, 0.02),
            tests::brick_mesh<3>("inner", {16, 14, 14}, {0.5, 0.55, 0.5}, {1.4, 1.5, 1.45}, 0.03, 0.4)};
        boxes[1].outer = tests::all_faces(3);
        compute<3>(team, std::move(boxes), 7);
        return 0;
    });
}
