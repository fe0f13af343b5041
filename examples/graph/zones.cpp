// Zones: heat on a ring of n = 24 cells, 4 wide: 16 along x of one zone, 8 along y of another, backwards.
// Both are joined at both ends. The answer is that of ghosts.cpp: u_i = g^s cos(2 pi i / n).
//   strata launch --layout 2x1 -- zones
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "core/graph/declare/zones.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"
using namespace strata::graph;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        constexpr double wave = 2 * std::numbers::pi / 24, r = 0.25;
        const double g = 1 - 4 * r * std::pow(std::sin(wave / 2), 2);
        ZoneList list("ring");
        const int a = list.zone({{0, 0, 0}, {16, 4, 1}}, {8, 4, 1});
        const int b = list.zone({{0, 0, 0}, {4, 8, 1}}, {4, 3, 1});
        list.join(a, Face{0, true}, b, Face{1, true}, {-2, 1, 3});
        list.join(b, Face{1, false}, a, Face{0, false}, {2, -1, 3});
        Graph graph("zones");
        const Zones& ring = graph.add<Zones>(std::move(list));
        const auto u = graph.field<double>("u", ring, On::cells, {.history = 1});
        const auto error = graph.scalar<double>("error", Reduce::max);
        const auto exact = [&ring, a](const Here& here, int i, int j) {
            return std::cos(wave * (ring.zone_of(here.patch) == a ? i : 23 - j));
        };
        const auto each = [](const Box& cells, auto&& call) {
            for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
                for (int i = cells.lo[0]; i < cells.hi[0]; ++i) call(i, j);
        };
        Task start = graph.start().task("cosine", ring);
        const auto first = start.make(u);
        start.run([=](Here& here) {
            each(here.cells(), [&](int i, int j) { here[first](i, j) = exact(here, i, j); });
        });
        Task step = graph.step().task("diffuse", ring);
        const auto old = step.need(u.previous(), ghosts(1));
        const auto now = step.make(u);
        const auto largest = step.contribute(error);
        step.run([=, &ring](Here& here) {
            const int di = ring.zone_of(here.patch) == a ? 1 : 0, dj = di - 1;  // along the ring
            each(here.cells(), [&](int i, int j) {
                const double before = here[old](i - di, j - dj), next = here[old](i + di, j + dj);
                here[now](i, j) = here[old](i, j) + r * (before - 2 * here[old](i, j) + next);
                const double right = std::pow(g, double(here.step)) * exact(here, i, j);
                here[largest] = std::max(here[largest], std::abs(here[now](i, j) - right));
            });
        });
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(100);
        team.barrier();
        if (team.rank() == 0) std::printf("error after 100 steps %.1e\n", run.value(error));
        return run.value(error) < 1e-13 ? 0 : 1;
    });
}
