// Particles: one in each of 8 cells of a ring, in patches of two cells; number p begins at p + 1/2 and moves
// (p + 1) / 4 cells a step, through all patches. After s steps it is at p + 1/2 + s (p + 1) / 4, modulo 8.
//   strata launch --layout 2x1 -- particles
#include <cmath>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        Graph graph("particles");
        Grid& ring = graph.grid(
            "ring", {.cells = {{0, 0, 0}, {8, 1, 1}}, .patch_cells = {2, 1, 1}, .periodic = {true}});
        const SetId set = graph.particles("dust", ring);
        const auto id = graph.particle_id(set);
        const auto x = graph.particle<double>(set, "x");
        const auto right = graph.scalar<double>("right", Reduce::sum);
        {
            Task task = graph.start().task("one in each cell", ring);
            const auto who = task.make(id);
            const auto at = task.make(x);
            task.run([=](Here& here) {
                here.create(set, 2);
                const int lo = here.cells().lo[0];
                for (int i : {0, 1}) here[who][i] = lo + i, here[at][i] = lo + i + 0.5;
            });
        }
        {
            Task task = graph.step().task("move", ring);
            const auto who = task.need(id);
            const auto at = task.modify(x);
            task.run([=](Here& here) {
                for (int i = 0; i < here[at].size(); ++i) here[at][i] += 0.25 * double(here[who][i] + 1);
            });
        }
        graph.step().relocate(set, x.last());
        Task task = graph.step().task("compare", ring);  // with the particles that are on the patch now
        const auto who = task.need(id.last());
        const auto at = task.need(x.last());
        const auto count = task.contribute(right);
        task.run([=](Here& here) {
            for (int i = 0; i < here[at].size(); ++i) {
                const double p = double(here[who][i]), s = double(here.step);
                const bool on_patch = here.cells().contains(Int3{int(here[at][i]), 0, 0});
                here[count] += on_patch && here[at][i] == std::fmod(p + 0.5 + s * (p + 1) / 4, 8);
            }
        });
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        bool all = true;
        for (int step = 0; step < 32; ++step) run.advance(1), all = all && run.value(right) == 8;
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("all 8 particles where they should be: %s\n", all ? "yes" : "no");
        return all ? 0 : 1;
    });
}
