// Ghosts: heat on a ring of n = 32 cells in patches of 8. An explicit step multiplies a cosine by
// g = 1 - 4 r sin^2(pi / n), with r = kappa dt / h^2, so that u_i = g^s cos(2 pi i / n) after s steps.
//   strata launch --layout 2x1 -- ghosts
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        constexpr double pi = std::numbers::pi, r = 0.25;
        constexpr int n = 32;
        const double g = 1 - 4 * r * std::pow(std::sin(pi / n), 2);
        Graph graph("ghosts");
        Grid& ring = graph.grid(
            "ring", {.cells = {{0, 0, 0}, {n, 1, 1}}, .patch_cells = {8, 1, 1}, .periodic = {true}});
        const auto u = graph.field<double>("u", ring, On::cells, {.history = 1});
        const auto error = graph.scalar<double>("error", Reduce::max);
        {
            Task task = graph.start().task("cosine", ring);
            const auto first = task.make(u);
            task.run([=](Here& here) {
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i)
                    here[first](i) = std::cos(2 * pi * i / n);
            });
        }
        {
            Task task = graph.step().task("diffuse", ring);
            const auto old = task.need(u.previous(), ghosts(1));
            const auto now = task.make(u);
            const auto largest = task.contribute(error);
            task.run([=](Here& here) {
                const double decay = std::pow(g, double(here.step));
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) {
                    here[now](i) =
                        here[old](i) + r * (here[old](i - 1) - 2 * here[old](i) + here[old](i + 1));
                    here[largest] =
                        std::max(here[largest], std::abs(here[now](i) - decay * std::cos(2 * pi * i / n)));
                }
            });
        }
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(100);
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("error after 100 steps %.1e\n", run.value(error));
        return run.value(error) < 1e-13 ? 0 : 1;
    });
}
