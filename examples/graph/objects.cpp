// Objects: each patch factorises a tridiagonal matrix at the start and in every fourth step, and solves with
// the factors in each step. After ten steps patches change owners, and their factors are made again there.
//   strata launch --layout 2x1 -- objects
#include <cmath>
#include <cstdio>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;
using Pivots = std::vector<double>;

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        constexpr int n = 50;
        Graph graph("objects");
        const Family& parts = graph.add<Family>("parts", 6);
        const auto d = graph.list<double>("d", parts, [](int) { return 1; });
        const auto factors = graph.object<Pivots>("factors", parts);
        const auto fourth = graph.scalar<double>("fourth"),
                   error = graph.scalar<double>("error", Reduce::max);
        const auto factorise = [&](Scope& scope, const char* name, auto version) {
            Task task = scope.task(name, parts);
            task.run([d = task.need(version), made = task.make(factors)](Here& here) {
                here[made].assign(n, 2 + here[d][0]);
                for (int i = 1; i < n; ++i) here[made][i] -= 1 / here[made][i - 1];
            });
        };
        Task begin = graph.start().task("begin", parts);
        begin.run([d = begin.make(d)](Here& here) { here[d][0] = here.patch; });
        factorise(graph.start(), "factorise at first", d.at(0));
        Task clock = graph.step().once("clock");
        clock.run([f = clock.make(fourth)](Here& here) { here[f] = double(here.step % 4); });
        Scope& now = graph.step().when<double>("every fourth", fourth, [](double f) { return f == 0; });
        Task grow = now.task("grow", parts);
        grow.run([d = grow.modify(d)](Here& here) { here[d][0] += 1; });
        factorise(now, "factorise", d.at(1));
        Task solve = graph.step().task("solve", parts);
        solve.run([f = solve.need(factors.at(1)), d = solve.need(d.at(1)),
                   e = solve.contribute(error)](Here& here) {
            const auto x = [&](int i) { return i < 0 || i >= n ? 0 : std::sin(double(here.step) * (i + 1)); };
            double y[n + 1] = {}, below = 0;
            for (int i = 0; i < n; below = y[i] / here[f][i], ++i)
                y[i] = (2 + here[d][0]) * x(i) - x(i - 1) - x(i + 1) + below;
            for (int i = n - 1; i >= 0; --i) y[i] = (y[i] + y[i + 1]) / here[f][i];
            for (int i = 0; i < n; ++i) here[e] = std::max(here[e], std::abs(y[i] - x(i)));
        });
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(10);
        Assignment other = run.assignment();
        for (int& owner : other.owner[FamilyId(0)]) owner = team.size() - 1 - owner;
        run.reassign(other);
        run.advance(12);
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0) std::printf("error in step 22 %.1e\n", run.value(error));
        return run.value(error) < 1e-14 ? 0 : 1;
    });
}
