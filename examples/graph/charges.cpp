// Sums onto another grid: 64 particles on a ring of 16 cells, in patches of 4, have a charge of 1 each. A
// mesh of 32 points, in patches of 11, gets a part of it at the two points around a particle: 1 - f at the
// lower, f at the upper one. Particles are at (p + 1/2) / 4, so each point gets 2, in whatever order they are
// added.
//   strata launch --layout 2x1 -- charges
#include <cmath>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        Graph graph("charges");
        const Grid& cells = graph.grid(
            "cells", {.cells = {{0, 0, 0}, {16, 1, 1}}, .patch_cells = {4, 1, 1}, .periodic = {true}});
        const Grid& mesh = graph.grid(
            "mesh", {.cells = {{0, 0, 0}, {32, 1, 1}}, .patch_cells = {11, 1, 1}, .periodic = {true}});
        const Overlap& onto = graph.add<Overlap>("mesh around cells", mesh, cells,
                                                 Overlap::Level::source_finer, 2, Int3{1, 0, 0});
        const SetId set = graph.particles("charges", cells);
        const auto id = graph.particle_id(set);
        const auto x = graph.particle<double>(set, "x");
        const auto charge = graph.field<double>("charge", mesh, On::cells);
        const auto right = graph.scalar<double>("right", Reduce::sum);
        Task sow = graph.start().task("four in each cell", cells);
        sow.run([=, who = sow.make(id), at = sow.make(x)](Here& here) {
            here.create(set, 16);
            for (int i = 0, p = 16 * here.patch; i < 16; ++i, ++p)
                here[who][i] = p, here[at][i] = (p + 0.5) / 4;
        });
        Task spread = graph.step().task("spread", cells);
        const auto at = spread.need(x);
        const auto points = spread.sum(charge, onto);  // of the patch's cells, and one beyond at each end
        spread.run([=](Here& here) {
            for (int i = 0; i < here[at].size(); ++i) {
                const int below = int(std::floor(2 * here[at][i]));
                const double f = 2 * here[at][i] - below;
                here[points](below) += 1 - f;
                here[points](below + 1) += f;
            }
        });
        Task compare = graph.step().task("compare", mesh);
        const auto all = compare.need(charge);
        compare.run([=, count = compare.contribute(right)](Here& here) {
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) here[count] += here[all](i) == 2;
        });
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(2);  // a sum begins with zero in each step
        const int twos = int(run.value(right));
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("%d of 32 points have a charge of 2\n", twos);
        return twos == 32 ? 0 : 1;
    });
}
