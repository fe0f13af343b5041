// Runs of the flow solver on one process, from settings; and settings that more than one test has.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "solvers/flow/tasks.hpp"

namespace strata::tests {

/// What a run has in the end.
struct FlowRan {
    double departure = 0, error = 0, residual = 0, largest = 0, failures = 0, lift = 0, drag = 0;
    double squares = 0;  // of R / V of density, summed over cells
    std::int64_t computed = 0, holes = 0, orphans = 0, receptors = 0;
    std::int64_t steps = 0;
};

struct FlowRun {
    int threads = 2;
    /// Declares what a test adds to the graph, and reads it at the end.
    std::function<void(graph::Graph&, const flow::Flow&)> declare = {};
    std::function<void(const graph::Simulation&)> end = {};
};

/// So many steps, or until a steady run is done.
inline FlowRan run_flow(flow::Settings s, std::int64_t steps, const FlowRun& how = {}) {
    graph::CaseSchema keys = flow::schema(s);
    flow::check(s, keys);
    graph::Graph graph("flow");
    const auto flow = flow::declare(graph, s, keys);
    if (how.declare) how.declare(graph, *flow);
    graph::Simulation simulation(graph, graph::Members::alone(), {.threads = how.threads});
    simulation.start();
    const flow::Labels& l = flow->finest();
    const flow::Report& r = flow->report;
    FlowRan ran;
    if (s.steady() && s.time.residual > 0)
        while (ran.steps < steps && (ran.steps == 0 || simulation.value(r.done) == 0))
            simulation.advance(10), ran.steps += 10;
    else
        simulation.advance(steps), ran.steps = steps;
    ran.residual = simulation.value(r.residual), ran.largest = simulation.value(r.largest_residual);
    ran.failures = simulation.value(r.failures);
    ran.lift = simulation.value(r.lift), ran.drag = simulation.value(r.drag);
    ran.squares = simulation.value(l.norms)[0];
    if (s.verify.uniform > 0) ran.departure = simulation.value(l.departure);
    if (s.verify.error > 0)
        ran.error = std::sqrt(simulation.value(l.squared_error) / simulation.value(l.volume));
    if (l.overset != nullptr) {
        const auto counts = simulation.numbers(l.overset->found->counts);
        for (std::size_t n = 0; n < counts.size(); n += overset::kCounts) {
            ran.computed += counts[n + overset::kComputed];
            ran.holes += counts[n + overset::kHoles];
            ran.orphans += counts[n + overset::kOrphans];
            ran.receptors += counts[n + overset::kReceptors];
        }
    }
    if (how.end) how.end(simulation);
    return ran;
}

/// All sides of a brick have one condition.
inline void all_sides(flow::Settings& s, const std::string& mesh, int dimensions, const std::string& kind) {
    for (const char* side : {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"})
        if (dimensions == 3 || side[0] != 'z') s.boundaries[mesh + side].kind = kind;
}

/// A vortex in a square of 10 x 10 in which flow goes round.
inline flow::Settings vortex_in_square(int n, double step) {
    flow::Settings s;
    s.grid.kind = "brick";
    s.grid.cells = {n, n}, s.grid.low = {-5, -5}, s.grid.high = {5, 5}, s.grid.periodic = {1, 2};
    s.grid.wave = 0.02;
    s.flow.mach = 0.5;
    s.flow.initial = "vortex", s.initial.strength = 2;
    s.time.kind = "unsteady", s.time.step = step, s.time.end = 100;
    s.time.cfl = s.time.cfl_start = 1000, s.time.subiterations = 60, s.time.drop = 1e-5;
    s.verify.error = 1;
    return s;
}

}  // namespace strata::tests
