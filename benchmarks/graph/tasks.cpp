// What the executor of the task graph takes between two operations, and what it leaves of short ones.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "benchmarks/common/median.hpp"
#include "benchmarks/elsewhere.hpp"
#include "benchmarks/graph/declared.hpp"
#include "benchmarks/graph/graph.hpp"
#include "core/base/error.hpp"

namespace strata::bench::graph_layer {

BoundChain::BoundChain(int threads, std::size_t records)
    : arena_(team::Arena::create()), chain_(threads), crew_(bound_crew(arena_, threads)) {
    graph::ExecutorOptions options;
    options.patience = bound_patience(arena_, threads);
    options.records = records;
    executor_ = std::make_unique<graph::Executor>(chain_.program(), options, crew_.get());
}

double BoundChain::measure(std::int64_t work_steps, double window_s) {
    chain_.do_work(work_steps);
    constexpr std::uint32_t trial = 20, most = 1'000'000;
    const double each = executor_->run(trial).seconds / trial;
    const auto steps =
        static_cast<std::uint32_t>(std::clamp(window_s / std::max(each, 1e-9), 5.0, double{most}));
    return 1e9 * executor_->run(steps).seconds / (static_cast<double>(steps) * kTasksAStep);
}

namespace {

constexpr int kWindows = 11, kCheckedSteps = 200;

void declare(Options& options) {
    options.option("--task", "NS", "1000", "how long the tasks of the third figure are")
        .example("strata bench graph-tasks --layout 1x2", "600 tasks a step on two bound threads");
}

template <class Measure>
double median_of(Measure measure) {
    std::vector<double> all(kWindows);
    for (double& one : all) one = measure();
    return median(all);
}

Result run(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("graph-tasks measures the threads of one process")
            .given(std::to_string(group.size()))
            .allowed("1");
    const std::int64_t task_ns = given.integer("--task", 100, 1'000'000);
    const double window = given.has("--quick") ? 0.002 : 0.05;
    const int threads = thread_count();
    Result result;
    result.parameter("patches", std::int64_t{kPatches});
    result.parameter("tasks a patch", std::int64_t{kTasks});
    result.parameter("task ns", task_ns);
    BoundChain plain(threads, 0), recorded(threads, 1U << 12U);
    plain.chain().do_check(fault);
    static_cast<void>(plain.executor().run(kCheckedSteps));
    BoundDeclared declared(threads, 0), declared_recorded(threads, 1U << 12U);
    declared.tasks().do_check(fault);
    declared.run(kCheckedSteps);
    result.verification = {
        "numbers that are not those of a serial run",
        static_cast<double>(plain.chain().wrong(kCheckedSteps) + declared.wrong(kCheckedSteps)), 0, "exact"};
    const std::int64_t steps = steps_for(1e-9 * static_cast<double>(task_ns));
    const double ideal = median_of([&] { return alone_ns(steps); }) / threads;
    const double reached = median_of([&] { return plain.measure(steps, window); });
    const double with_labels = median_of([&] { return declared.measure(steps, window); });
    result.figures = {
        {"empty task", median_of([&] { return plain.measure(0, window); }), "ns", false, {}, {}},
        {"empty task, recorded", median_of([&] { return recorded.measure(0, window); }), "ns", false, {}, {}},
        {"task", reached, "ns", false, {}, {}},
        {"declared, empty task", median_of([&] { return declared.measure(0, window); }), "ns", false, {}, {}},
        {"declared, empty task, recorded",
         median_of([&] { return declared_recorded.measure(0, window); }),
         "ns",
         false,
         {},
         {}},
        {"declared, task", with_labels, "ns", false, {}, {}}};
    result.notes = {
        fmt::format("A task takes {:.1f} ns in a plain loop, {:.1f} on as many threads: {:.1f} % efficiency, "
                    "{:.1f} % of the graph declared with labels.",
                    ideal * threads, ideal, 100 * ideal / reached, 100 * ideal / with_labels)};
    return result;
}

}  // namespace

const Benchmark tasks = {of_graph::kTasks.name, of_graph::kTasks.summary, declare, run};

}  // namespace strata::bench::graph_layer
