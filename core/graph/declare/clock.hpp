// The time of a case: scalars that a task makes once in each step.
#pragma once

#include "core/base/steps.hpp"
#include "core/graph/declare/graph.hpp"

namespace strata::graph {

struct Clock {
    Scalar<double> time;  // "time", at the end of the step; the step before is kept
    Scalar<double> dt;    // "dt", the length of the step
};

/// The time of steps of equal length, in s.
[[nodiscard]] Scalar<double> equal_steps(Graph& graph, double dt);

/// The labels of a clock. `history`: of dt.
[[nodiscard]] Clock clock_labels(Graph& graph, int history = 0);

/// What the task of the step that makes them does, which runs once: steps of any length, of which the last
/// one ends exactly at `end`. `declare(task)` declares what the length depends on, and returns the function
/// that finds it:
///
///   advance_clock(graph.step().once("advance clock"), clock, 1.0, [&](Task& task) {
///       return [rate = task.need(stable_rate)](Here& here) { return 0.5 / here[rate]; };
///   });
///
/// Where it finds infinity, the step goes to the end; so it does where less than a millionth of it would be
/// left.
template <std::invocable<Task&> Declare>
void advance_clock(Task task, const Clock& clock, double end, Declare declare) {
    auto length = declare(task);
    const auto before = task.need(clock.time.previous());
    const auto dt = task.make(clock.dt), time = task.make(clock.time);
    task.run([=](Here& here) mutable {
        const double left = end - here[before];
        const double wanted = length(here);
        const bool last = goes_to_end(wanted, left);
        here[dt] = last ? left : wanted;
        here[time] = last ? end : here[before] + wanted;
    });
}

/// Both.
template <std::invocable<Task&> Declare>
[[nodiscard]] Clock steps_until(Graph& graph, double end, Declare declare) {
    const Clock clock = clock_labels(graph);
    advance_clock(graph.step().once("advance clock"), clock, end, std::move(declare));
    return clock;
}

}  // namespace strata::graph
