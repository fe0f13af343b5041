// What SP and BT have in common as benchmarks: they differ in their Scheme, sizes and official values.
#pragma once

#include <fmt/format.h>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/npb/flow/sweeps.hpp"

namespace strata::npb::flow {

/// A class of SP or BT, on a cube.
struct Problem {
    std::int64_t points;  // in each direction
    int iterations;
    double dt;
    Official official;  // NPB 3.4; relative errors at most 1e-8
    [[nodiscard]] Index n() const { return {points, points, points}; }
};

template <class Scheme>
[[nodiscard]] Plan plan_factored(const Problem& problem, int processes, int workers) {
    const Partition partition = Partition::multi(problem.n(), 0, processes);
    partition.require_room();
    const Index& cuts = partition.cuts();
    Plan plan{fmt::format("{0:4}x{0:4}x{0:4}", problem.points), problem.iterations,
              fmt::format("{} x {} x {} cells, {} on each process, planes over {} worker{} in each", cuts[0],
                          cuts[1], cuts[2], partition.cells().size(), workers, workers == 1 ? "" : "s"),
              Domain::needs(partition, workers)};
    for (const Need& need : Sweeps<Scheme>::needs(partition, workers)) plan.needs.push_back(need);
    return plan;
}

/// `operations`: of one iteration, by the official count.
template <class Scheme>
[[nodiscard]] Outcome run_factored(const Problem& problem, const char* name, double operations, Group& group,
                                   Break fault) {
    Domain domain(Partition::multi(problem.n(), group.rank(), group.size()), group);
    const Scheme scheme(problem.n(), problem.dt, fault);
    Sweeps<Scheme> sweeps(domain, scheme, problem.dt);
    domain.force();
    domain.begin();
    // One iteration for touching all there is, which is not counted.
    sweeps.iterate();
    domain.begin();
    bench::Progress progress(name, static_cast<std::size_t>(problem.iterations));
    group.meet();
    const double start = bench::now();
    for (int iteration = 0; iteration < problem.iterations; ++iteration) {
        sweeps.iterate();
        if (group.first()) progress.step();
    }
    group.meet();
    Outcome outcome;
    outcome.seconds = group.max(bench::now() - start);
    outcome.operations = operations * problem.iterations;
    domain.exchange();
    domain.evaluate(1);
    const State residual = domain.rhs_norm(), error = domain.error_norm();
    outcome.checks = checks(residual, error, problem.official);
    outcome.lines = norm_lines(residual, error);
    return outcome;
}

}  // namespace strata::npb::flow
