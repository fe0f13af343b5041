// Conjugate gradients with one reduction a round (Chronopoulos and Gear, J. Comput. Appl. Math. 25 (1989)
// 153): two inner products together, of which a task that runs once makes the coefficients. A string under a
// load: -u_(i-1) + 2 u_i - u_(i+1) = 1 gives u_i = (i + 1) (n - i) / 2, here after n / 2 rounds.
//   strata launch --layout 2x1 -- conjugate
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

constexpr int n = 40;

int run(strata::team::Team& team) {
    Graph graph("conjugate");
    Grid& line = graph.grid("line", {.cells = {{0, 0, 0}, {n, 1, 1}}, .patch_cells = {6, 1, 1}});
    const auto field = [&](const char* name) { return graph.field<double>(name, line, On::cells); };
    const auto u = field("u"), r = field("r"), p = field("p"), w = field("w = A r"), s = field("s = A p");
    const auto products = graph.scalar<std::array<double, 2>>("r.r, r.w", Reduce::sum);
    const auto factors = graph.scalar<std::array<double, 3>>("alpha, beta, r.r before");
    const auto residual = graph.scalar<double>("residual"), rounds = graph.scalar<double>("rounds");
    const auto error = graph.scalar<double>("error", Reduce::max);
    Task begin = graph.start().task("begin", line);
    begin.run([u = begin.make(u), r = begin.make(r), p = begin.make(p), s = begin.make(s)](Here& here) {
        for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i)
            here[u](i) = here[p](i) = here[s](i) = 0, here[r](i) = 1;
    });
    Scope& solve = graph.step().repeat<double>(
        "solve", residual.at(0), [](double size) { return size < 1e-10; }, 100);
    Task multiply = solve.task("multiply", line);
    multiply.run([r = multiply.need(r, ghosts(1)), w = multiply.make(w),
                  sums = multiply.contribute(products)](Here& here) {
        for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) {
            const double left = i > 0 ? here[r](i - 1) : 0, right = i < n - 1 ? here[r](i + 1) : 0;
            here[w](i) = 2 * here[r](i) - left - right;
            here[sums][0] += here[r](i) * here[r](i);
            here[sums][1] += here[r](i) * here[w](i);
        }
    });
    Task once = solve.once("coefficients");
    once.run([sums = once.need(products), factors = once.modify(factors), size = once.make(residual),
              rounds = once.make(rounds)](Here& here) {
        const auto& [rr, rw] = here[sums];
        auto& [alpha, beta, before] = here[factors];
        beta = here.round == 0 ? 0 : rr / before;
        alpha = rr / (here.round == 0 ? rw : rw - beta * rr / alpha);
        before = rr, here[size] = std::sqrt(rr), here[rounds] = double(here.round);
    });
    Task move = solve.task("move", line);
    move.run([factors = move.need(factors.at(1)), w = move.need(w), u = move.modify(u), r = move.modify(r),
              p = move.modify(p), s = move.modify(s)](Here& here) {
        const auto& [alpha, beta, rr] = here[factors];
        for (int i = here.cells().lo[0]; i < here.cells().hi[0] && rr > 0; ++i) {
            here[p](i) = here[r](i) + beta * here[p](i);
            here[s](i) = here[w](i) + beta * here[s](i);
            here[u](i) += alpha * here[p](i);
            here[r](i) -= alpha * here[s](i);
        }
    });
    Task compare = graph.step().task("compare", line);
    compare.run([u = compare.need(u.last()), error = compare.contribute(error)](Here& here) {
        for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i)
            here[error] = std::max(here[error], std::abs(here[u](i) - (i + 1) * (n - i) / 2.0));
    });
    Simulation steps(graph, Members::of(team), {.crew = &team.crew()});
    steps.start();
    steps.advance(1);
    team.barrier();  // nobody frees its patches while others read them
    if (team.rank() == 0)
        std::printf("after %g rounds: residual %.17g, error %.17g\n", steps.value(rounds),
                    steps.value(residual), steps.value(error));
    return steps.value(error) < 1e-10 && steps.value(rounds) == n / 2 ? 0 : 1;
}

int main(int argc, char** argv) { return strata::team::run(argc, argv, run); }
