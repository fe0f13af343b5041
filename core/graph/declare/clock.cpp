#include "core/graph/declare/clock.hpp"

namespace strata::graph {

namespace {

Scalar<double> add_time(Graph& graph) { return graph.scalar<double>("time", {.history = 1, .unit = "s"}); }

}  // namespace

Clock clock_labels(Graph& graph, int history) {
    const Scalar<double> time = add_time(graph);
    return {time, graph.scalar<double>("dt", {.history = history, .unit = "s"})};
}

Scalar<double> equal_steps(Graph& graph, double dt) {
    const Scalar<double> label = add_time(graph);
    Task task = graph.step().once("advance clock");
    const auto time = task.make(label);
    // No sum, which would lose a little in each step.
    task.run([=](Here& here) { here[time] = static_cast<double>(here.step) * dt; });
    return label;
}

}  // namespace strata::graph
