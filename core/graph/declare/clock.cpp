#include "core/graph/declare/clock.hpp"

namespace strata::graph {

namespace detail {

Scalar<double> add_time(Graph& graph) { return graph.scalar<double>("time", {.history = 1, .unit = "s"}); }

}  // namespace detail

Scalar<double> equal_steps(Graph& graph, double dt) {
    const Scalar<double> label = detail::add_time(graph);
    Task task = graph.step().once("advance clock");
    const auto before = task.need(label.previous());
    const auto time = task.make(label);
    task.run([=](Here& here) { here[time] = here[before] + dt; });
    return label;
}

}  // namespace strata::graph
