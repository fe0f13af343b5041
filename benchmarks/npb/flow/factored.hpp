// What SP and BT have in common as benchmarks: they differ in their Scheme, sizes and official values.
#pragma once

#include <fmt/format.h>

#include "benchmarks/npb/flow/operations.hpp"
#include "benchmarks/npb/flow/sweeps.hpp"
#include "benchmarks/npb/flow/timed.hpp"

namespace strata::npb::flow {

template <class Scheme>
[[nodiscard]] Plan plan_factored(const Problem& problem, int processes, int workers) {
    const Partition partition = Partition::multi(problem.n(), 0, processes);
    partition.require_room();
    const Index& cuts = partition.cuts();
    Plan plan{problem.size_text(), problem.iterations,
              fmt::format("{} x {} x {} cells, {} on each process, planes over {} worker{} in each", cuts[0],
                          cuts[1], cuts[2], partition.cells().size(), workers, workers == 1 ? "" : "s"),
              Domain::needs(partition, workers)};
    for (const Need& need : Sweeps<Scheme>::needs(partition, workers)) plan.needs.push_back(need);
    return plan;
}

template <class Scheme>
[[nodiscard]] Outcome run_factored(const Problem& problem, const char* name, const Operations& operations,
                                   Group& group, Break fault) {
    Domain domain(Partition::multi(problem.n(), group.rank(), group.size()), group);
    const Scheme scheme(flow::scale_of(problem.n()), problem.dt, fault);
    Sweeps<Scheme> sweeps(domain, scheme, problem.dt);
    domain.force();
    domain.begin();
    // One iteration for touching all there is, which is not counted.
    sweeps.iterate();
    domain.begin();
    Outcome outcome;
    outcome.seconds = timed(
        group, name, problem.iterations, [&] { sweeps.iterate(); }, [] {});
    outcome.operations = operations.of(problem.n()) * problem.iterations;
    domain.exchange();
    domain.evaluate(1);
    const State residual = domain.rhs_norm(), error = domain.error_norm();
    outcome.checks = checks(residual, error, problem.official);
    outcome.lines = norm_lines(residual, error);
    return outcome;
}

}  // namespace strata::npb::flow
