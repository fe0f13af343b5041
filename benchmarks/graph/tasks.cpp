// What the executor of the task graph takes between two operations, and what it leaves of short ones.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "benchmarks/graph/graph.hpp"
#include "benchmarks/team/members.hpp"
#include "core/base/error.hpp"

namespace strata::bench::graph_layer {

BoundChain::BoundChain(int threads, std::size_t records) : arena_(team::Arena::create()), chain_(threads) {
    std::vector<std::vector<int>> where;
    for (const int pu : team_layer::pus_for(threads)) where.push_back({pu});
    const team::CrewPlaces plan = team::CrewPlaces::even(1, threads);
    void* table = arena_.allocate("table", team::CrewTable::bytes(plan));
    team::CrewTable::form(table, plan);
    const bool crowded = threads > team_layer::usable_cores();
    const team::Patience patience =
        crowded ? team::Patience::crowded(&arena_.failure()) : team::Patience{.failure = &arena_.failure()};
    crew_ = std::make_unique<team::Crew>(table, 0, where, patience);
    crew_->prepare();
    graph::ExecutorOptions options;
    options.patience = patience;
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
double median(Measure measure) {
    std::array<double, kWindows> all{};
    for (double& one : all) one = measure();
    std::nth_element(all.begin(), all.begin() + kWindows / 2, all.end());
    return all[kWindows / 2];
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
    result.verification = {"numbers that are not those of a serial run",
                           static_cast<double>(plain.chain().wrong(kCheckedSteps)), 0, "exact"};
    const std::int64_t steps = steps_for(1e-9 * static_cast<double>(task_ns));
    const double ideal = median([&] { return alone_ns(steps); }) / threads;
    const double reached = median([&] { return plain.measure(steps, window); });
    result.figures = {
        {"empty task", median([&] { return plain.measure(0, window); }), "ns", false, {}, {}},
        {"empty task, recorded", median([&] { return recorded.measure(0, window); }), "ns", false, {}, {}},
        {"task", reached, "ns", false, {}, {}}};
    result.notes = {
        fmt::format("A task takes {:.1f} ns in a plain loop, {:.1f} on as many threads: {:.1f} % efficiency.",
                    ideal * threads, ideal, 100 * ideal / reached)};
    return result;
}

}  // namespace

const Benchmark tasks = {"graph-tasks", "tasks of a graph: what the executor takes for each", declare, run};

}  // namespace strata::bench::graph_layer
