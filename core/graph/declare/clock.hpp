// The time of a case: scalars that a task makes once in each step.
#pragma once

#include "core/base/steps.hpp"
#include "core/graph/declare/graph.hpp"

namespace strata::graph {

struct Clock {
    Scalar<double> time;  // "time", at the end of the step; the step before is kept
    Scalar<double> dt;    // "dt", the length of the step
};

namespace detail {

Scalar<double> add_time(Graph& graph);

}  // namespace detail

/// The time of steps of equal length, in s.
[[nodiscard]] Scalar<double> equal_steps(Graph& graph, double dt);

/// Steps of any length, of which the last one ends exactly at `end`. `declare(task)` declares what the length
/// depends on, and returns the function that finds it:
///
///   const Clock clock = steps_until(graph, 1.0, [&](Task& task) {
///       return [rate = task.need(stable_rate)](Here& here) { return 0.5 / here[rate]; };
///   });
///
/// Where it finds infinity, the step goes to the end; so it does where less than a millionth of it would be
/// left. `history`: of dt.
template <std::invocable<Task&> Declare>
[[nodiscard]] Clock steps_until(Graph& graph, double end, Declare declare, int history = 0) {
    const Clock clock{detail::add_time(graph), graph.scalar<double>("dt", {.history = history, .unit = "s"})};
    Task task = graph.step().once("advance clock");
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
    return clock;
}

}  // namespace strata::graph
