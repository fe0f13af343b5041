#include "benchmarks/npb/mg/mg.hpp"

#include <fmt/format.h>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/npb/mg/cycle.hpp"
#include "benchmarks/npb/mg/levels.hpp"

namespace strata::npb::mg {
namespace {

constexpr Problem kProblems[] = {
    {5, 4, 0.5307707005734e-4},     // S
    {7, 4, 0.6467329375339e-5},     // W
    {8, 4, 0.2433365309069e-5},     // A
    {8, 20, 0.1800564401355e-5},    // B
    {9, 20, 0.5706732285740e-6},    // C
    {10, 50, 0.1583275060440e-9},   // D
    {11, 50, 0.5630442584711e-10},  // E
    {12, 50, 0.1889225697989e-10},  // F
};
constexpr double kLimit = 1e-8;

Plan plan(Class size, int processes, int workers) {
    const Problem& p = problem(size);
    const auto counts = Grid(0, processes).counts();
    Plan plan{fmt::format("{0:4}x{0:4}x{0:4}", p.points()),
              p.iterations,
              fmt::format("{} x {} x {} processes, planes over {} worker{} in each", counts[0], counts[1],
                          counts[2], workers, workers == 1 ? "" : "s"),
              {}};
    for (const auto& [what, bytes] : Levels::needs(p, processes, workers))
        if (bytes > 0) plan.needs.push_back({what, bytes});
    if (Levels::sweeps(p, processes, workers))
        plan.needs.push_back(
            {"planes of r under work", Cycle::window_bytes(p.points(), p.points() / counts[2], workers)});
    return plan;
}

Outcome run(Class size, Group& group, Break fault) {
    const Problem& p = problem(size);
    Levels levels(p, group);
    Cycle cycle(levels, fault);
    bench::Progress progress("iterations of MG", static_cast<std::size_t>(p.iterations));
    // One iteration for touching all there is, which is not counted.
    levels.reset();
    cycle.run(false);
    levels.reset();
    group.meet();
    const double start = bench::now();
    for (int iteration = 0; iteration < p.iterations; ++iteration) {
        cycle.run(iteration + 1 < p.iterations);
        if (group.first()) progress.step();
    }
    const double norm = cycle.norm();
    Outcome outcome;
    outcome.seconds = group.max(bench::now() - start);
    const auto n = static_cast<double>(p.points());
    outcome.operations = 58.0 * p.iterations * n * n * n;
    outcome.bytes = cycle.bytes(p.iterations);
    outcome.compulsory_bytes = cycle.compulsory_bytes(p.iterations);
    outcome.checks = {relative("relative error of the residual's norm", norm, p.norm, kLimit)};
    outcome.lines.push_back(fmt::format("L2 Norm is {:20.13e}", norm));
    return outcome;
}

}  // namespace

const Problem& problem(Class size) { return kProblems[index(size)]; }

const Benchmark benchmark = {"mg", "Poisson's equation on a periodic cube by multigrid", plan, run};

}  // namespace strata::npb::mg
