#include "benchmarks/graph/declared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "benchmarks/graph/chain.hpp"
#include "benchmarks/team/members.hpp"

namespace strata::bench::graph_layer {

using namespace strata::graph;

namespace {

/// What one input adds to a number; order counts.
constexpr std::uint64_t mix(std::uint64_t sum, std::uint64_t input, int task, int patch) {
    return sum * 31 + input + static_cast<std::uint64_t>(task * kPatches + patch);
}

GridShape chain_shape() { return {.cells = {{0, 0, 0}, {kPatches, 1, 1}}, .patch_cells = {1, 1, 1}}; }

}  // namespace

DeclaredTasks::DeclaredTasks(const GridShape& shape) : grid_(graph_.grid("patches", shape)) {
    for (int task = 0; task < kTasks; ++task)
        made_.push_back(graph_.field<std::uint64_t>(fmt::format("made {}", task), grid_, On::cells,
                                                    {.history = task == kTasks - 1 ? 1 : 0}));
    declare_start();
    for (int task = 0; task < kTasks; ++task) declare_task(task);
}

void DeclaredTasks::declare_start() {
    Task task = graph_.start().task("nothing yet", grid_);
    const auto first = task.make(made_.back());
    task.run([first](Here& here) {
        const auto to = here[first];
        const Box cells = here.cells();
        for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
            for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
                std::fill(to.row(j, k) + cells.lo[0], to.row(j, k) + cells.hi[0], std::uint64_t{0});
    });
}

/// The first takes what the last made in the step before.
void DeclaredTasks::declare_task(int number) {
    Task task = graph_.step().task(fmt::format("task {}", number), grid_);
    const auto around = ghosts(needs_neighbours(number) ? 1 : 0);
    const auto from = number == 0 ? task.need(made_.back().previous(), around)
                                  : task.need(made_[static_cast<std::size_t>(number - 1)].at(0), around);
    const auto to = task.make(made_[static_cast<std::size_t>(number)]);
    task.run([=, this](Here& here) {
        if (steps_ >= 0) {
            if (steps_ > 0) work(steps_);
            return;
        }
        const auto input = here[from];
        std::uint64_t value = 1;
        for (int i = input.box().lo[0]; i < input.box().hi[0]; ++i)
            if (i >= 0 && i < kPatches) value = mix(value, input(i), number, here.patch);
        const bool wrong = number == 2 && here.patch == kPatches / 2;
        if (wrong && fault_ == Break::perturb) ++value;
        if (!wrong || fault_ != Break::skip) here[to](here.patch) = value;
    });
}

std::vector<std::uint64_t> DeclaredTasks::last(const Simulation& run) const {
    std::vector<std::uint64_t> all;
    for (const Kept& kept : kept_versions(run.plan())) {
        if (kept.label != made_.back().id() || kept.back != 0) continue;
        for (int patch = 0; patch < grid_.patches(); ++patch) {
            std::uint64_t value = 0;
            std::memcpy(&value, run.values(kept, patch).data(), sizeof value);
            all.push_back(value);
        }
    }
    return all;
}

team::Patience bound_patience(team::Arena& arena, int threads) {
    return threads > team_layer::usable_cores() ? team::Patience::crowded(&arena.failure())
                                                : team::Patience{.failure = &arena.failure()};
}

std::unique_ptr<team::Crew> bound_crew(team::Arena& arena, int threads) {
    std::vector<std::vector<int>> where;
    for (const int pu : team_layer::pus_for(threads)) where.push_back({pu});
    const team::CrewPlaces plan = team::CrewPlaces::even(1, threads);
    void* table = arena.allocate("table", team::CrewTable::bytes(plan));
    team::CrewTable::form(table, plan);
    auto crew = std::make_unique<team::Crew>(table, 0, where, bound_patience(arena, threads));
    crew->prepare();
    return crew;
}

BoundRun::BoundRun(Graph& graph, int threads, std::size_t records)
    : arena_(team::Arena::create()), crew_(bound_crew(arena_, threads)) {
    Members members = Members::alone();
    members.patience = bound_patience(arena_, threads);
    SimulationOptions options;
    options.crew = crew_.get();
    options.records = records;
    run_ = std::make_unique<Simulation>(graph, members, options);
    run_->start();
}

BoundDeclared::BoundDeclared(int threads, std::size_t records)
    : tasks_(chain_shape()), run_(tasks_.graph(), threads, records) {}

double BoundDeclared::measure(std::int64_t work_steps, double window_s) {
    tasks_.do_work(work_steps);
    constexpr std::int64_t trial = 20, most = 1'000'000;
    run(trial);
    const double each = run_->batch().seconds / trial;
    const auto steps = static_cast<std::int64_t>(
        std::clamp(window_s / std::max(each, 1e-9), 5.0, static_cast<double>(most)));
    run(steps);
    return 1e9 * run_->batch().seconds / (static_cast<double>(steps) * kTasksAStep);
}

int BoundDeclared::wrong(std::int64_t steps) const {
    std::vector<std::uint64_t> before(kPatches, 0), now(kPatches);
    for (std::int64_t step = 0; step < steps; ++step)
        for (int task = 0; task < kTasks; ++task) {
            for (int patch = 0; patch < kPatches; ++patch) {
                const int reach = needs_neighbours(task) ? 1 : 0;
                std::uint64_t& value = now[static_cast<std::size_t>(patch)] = 1;
                for (int i = std::max(0, patch - reach); i <= std::min(kPatches - 1, patch + reach); ++i)
                    value = mix(value, before[static_cast<std::size_t>(i)], task, patch);
            }
            std::swap(before, now);
        }
    const std::vector<std::uint64_t> made = tasks_.last(*run_);
    int wrong = 0;
    for (int patch = 0; patch < kPatches; ++patch)
        wrong += made[static_cast<std::size_t>(patch)] != before[static_cast<std::size_t>(patch)] ? 1 : 0;
    return wrong;
}

}  // namespace strata::bench::graph_layer
