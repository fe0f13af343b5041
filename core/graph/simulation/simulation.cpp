#include "core/graph/simulation/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/base/crc32c.hpp"
#include "core/base/error.hpp"
#include "core/graph/expand/calls/calls.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/balancing.hpp"
#include "core/graph/simulation/made_again.hpp"

namespace strata::graph {

namespace {

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A number for each plan of a process. All processes make the same plans in the same order, so their numbers
/// agree.
std::uint64_t next_serial() {
    static std::uint64_t made = 0;
    return made++;
}

/// As their types make them: they are in the heap's growth, and among the values.
std::int64_t bytes_of_objects(const Plan& plan) {
    return static_cast<std::int64_t>(plan.memory().objects().bytes());
}

/// The heap's growth while `make` runs, in bytes.
template <class Make>
std::int64_t grown(Make make) {
    const auto before = heap_bytes();
    make();
    const auto after = heap_bytes();
    return before && after ? static_cast<std::int64_t>(*after) - static_cast<std::int64_t>(*before) : 0;
}

}  // namespace

Simulation::Simulation(Graph& graph, Members members, SimulationOptions options)
    : graph_(graph),
      members_(std::move(members)),
      options_(std::move(options)),
      balancer_(std::make_unique<Balancer>(
          members_.size, options_.crew != nullptr ? options_.crew->count() : options_.threads,
          options_.balance)) {
    graph_heap_ = grown([&] { resolved_ = resolve(graph); });
    if (options_.crew != nullptr) options_.threads = options_.crew->count();
    Assignment assignment = options_.assignment;
    if (assignment.owner.empty()) assignment = assign(graph, members_, next_serial());
    assignment.number(members_.size);
    const double begin = cpu_seconds();
    plan_heap_ = grown([&] {
        plan_ =
            std::make_unique<Plan>(graph_, resolved_, assignment, members_, options_.threads, next_serial());
    });
    plan_heap_ -= bytes_of_objects(*plan_);
    balancer_->planned(2 * (cpu_seconds() - begin));  // a move also copies values
    planned_for_ = relations_version();
}

Simulation::~Simulation() = default;

const BalanceRecord& Simulation::balanced() const { return balancer_->record(); }

ExecutorOptions Simulation::executor_options() const {
    ExecutorOptions options;
    options.patience = members_.patience;
    options.domains = members_.domains;
    options.records = options_.records;
    options.shuffle = options_.shuffle;
    if (members_.arena != nullptr)  // other processes also wake a thread that sleeps
        options.sleepers = members_.arena->array<std::atomic<std::uint32_t>>("graph.sleepers", 1).data();
    if (members_.messages != nullptr)
        options.progress = [messages = members_.messages] { messages->progress(); };
    return options;
}

void Simulation::make_executor(std::vector<Epoch> counts) {
    ExecutorOptions options = executor_options();
    options.counts = std::move(counts);
    options.meter = options_.meter;
    executor_heap_ = grown(
        [&] { executor_ = std::make_unique<Executor>(plan_->step(), std::move(options), options_.crew); });
}

void Simulation::end_executor() {
    if (options_.before_replacing) options_.before_replacing();
    executor_.reset();
}

void Simulation::start() {
    plan_->listen(0, {});
    Executor(plan_->start(), executor_options(), options_.crew).run(1);
    if (members_.messages != nullptr) members_.messages->finish_sending();
    members_.meet();
    plan_->fill_halos();  // of values that the start made and steps read as ghosts
    members_.meet();
    plan_heap_ += grown([&] { plan_->forget_start(); });
    plan_->listen(1, {});
    make_executor({});
}

void Simulation::restore(std::int64_t step, const std::function<void(const Plan&)>& put) {
    put(*plan_);
    step_ = step;
    plan_->count_steps_from(step);
    members_.meet();
    plan_->fill_halos();
    members_.meet();
    plan_heap_ += grown([&] { plan_->forget_start(); });
    if (!resolved_.made_again.empty()) make_objects_again(*plan_, {}, options_.crew, options_.threads);
    plan_->listen(1, {});
    make_executor({});
}

std::uint64_t Simulation::relations_version() const {
    std::uint64_t sum = 0;
    for (const auto& relation : graph_.relations()) sum += relation->version();
    return sum;
}

/// Makes a new plan where a relation has changed: copies, messages and waits depend on relations.
void Simulation::follow_relations() {
    for (const auto& call : graph_.calls_before_step()) call(step_ + 1);
    if (relations_version() == planned_for_) return;
    planned_for_ = relations_version();
    reassign(plan_->assignment());
}

std::vector<Epoch> Simulation::rounds_of_all() const {
    std::vector<Epoch> counts;
    for (std::uint16_t scope = 0; scope < plan_->step().scopes; ++scope)
        counts.push_back(executor_->epoch(scope));
    return counts;
}

void Simulation::reassign(Assignment assignment) {
    std::vector<Epoch> counts = rounds_of_all();
    end_executor();
    assignment.number(members_.size);
    plan_->stop_listening();
    members_.meet();  // all have reached the end of the step
    std::unique_ptr<Plan> next;
    plan_heap_ = grown([&] {
        next = std::make_unique<Plan>(*plan_, assignment, options_.threads, next_serial(), counts);
        next->forget_start();
    });
    plan_heap_ -= bytes_of_objects(*next);
    next->take_over_objects(*plan_, next_serial());
    const bool left_behind = are_objects_left_behind(*plan_, *next);
    plan_ = std::move(next);
    if (left_behind) make_objects_again(*plan_, counts, options_.crew, options_.threads);
    balancer_->forget();
    if (!balancer_->costs().empty()) plan_->start_longest_first(balancer_->costs());
    plan_->listen(1, counts);
    make_executor(std::move(counts));
}

void Simulation::parameters_changed() {
    if (resolved_.made_again.empty() || !executor_) return;
    const std::vector<Epoch> counts = rounds_of_all();
    plan_->stop_listening();
    members_.meet();
    end_executor();
    forget_objects(*plan_);
    make_objects_again(*plan_, counts, options_.crew, options_.threads);
    plan_->listen(1, counts);
    make_executor(counts);
}

const std::byte* Simulation::scalar_now(LabelId label) const {
    for (const StorageId s : resolved_.storages.ids()) {
        const Storage& storage = resolved_.storages[s];
        if (storage.contributions || !storage.holds(label)) continue;
        const PatchArray& array = plan_->memory().own(s, 0);
        const Epoch rounds =
            executor_ && storage.depth > 1 ? executor_->epoch(plan_->scope(storage.scope)) : 0;
        return array.origin +
               static_cast<std::int64_t>(rounds % static_cast<Epoch>(storage.depth)) * array.buffer_stride;
    }
    throw Error(fmt::format("graph '{}': no task makes the scalar '{}', which is asked for", graph_.name(),
                            graph_.labels()[label].name))
        .remedy("contribute to it, or make it in a task that runs once(name)");
}

namespace {

/// The task of the step that makes the scalar's last version: a reduction, or one that runs once. None: no
/// task does.
TaskId last_maker(const Graph& graph, const Resolved& resolved, LabelId scalar) {
    TaskId last;
    int version = -1;
    for (const TaskId t : resolved.tasks.ids()) {
        const ResolvedTask& task = resolved.tasks[t];
        if (task.scope != kStep) continue;
        for (std::size_t u = 0; u < task.uses.size(); ++u) {
            const ResolvedUse& use = task.uses[u];
            const bool makes = task.what == ResolvedTask::What::reduce
                                   ? u == 0
                                   : task.what == ResolvedTask::What::body &&
                                         (graph.tasks()[t].uses[u].access == Access::make ||
                                          graph.tasks()[t].uses[u].access == Access::modify);
            if (makes && use.label == scalar && use.version > version) last = t, version = use.version;
        }
    }
    return last;
}

}  // namespace

/// Each process decides by its own copy of the scalar, once the step has made it.
Decision Simulation::whether_to_go_on() {
    Decision go_on;
    if (!stop_) return go_on;
    const TaskId maker = last_maker(graph_, resolved_, stop_label_);
    if (!maker)
        throw Error(fmt::format("graph '{}': the run is to stop by '{}', which no task of the step makes",
                                graph_.name(), graph_.labels()[stop_label_].name))
            .allowed("a scalar that each step makes")
            .remedy("contribute to it, or make it in a task of the step that runs once(name)");
    for (const ResolvedUse& use : resolved_.tasks[maker].uses) {
        if (use.label != stop_label_ || use.back != 0) continue;
        const PatchArray& array = plan_->memory().own(use.storage, 0);
        if (!stop_call_) stop_call_ = std::make_unique<DecideCall>();
        stop_call_->test = &stop_;
        stop_call_->more_if = false;
        stop_call_->scalar = {array.origin, array.buffer_stride,
                              static_cast<std::uint32_t>(resolved_.storages[use.storage].depth), 0, 0};
        go_on = {DecideCall::more, stop_call_.get(), plan_->end_of(maker)};
        break;  // of a reduction the contributions follow
    }
    return go_on;
}

std::int64_t Simulation::advance(std::int64_t steps) {
    std::int64_t done = 0;
    const std::int64_t at_once = graph_.calls_before_step().empty() ? std::int64_t{1} << 20 : 1;
    batch_ = {};
    while (done < steps && !stopped_) {
        balance();
        follow_relations();
        const Decision go_on = whether_to_go_on();
        const auto want =
            static_cast<std::uint32_t>(std::min({at_once, steps - done, balancer_->steps_at_once(*plan_)}));
        const Batch part = executor_->run(want, go_on);
        if (members_.messages != nullptr) members_.messages->finish_sending();
        count(part);
        done += part.steps;
        step_ += part.steps;
        stopped_ = go_on.more != nullptr && !go_on.more(go_on.what, executor_->epoch(0));
    }
    return done;
}

void Simulation::count(const Batch& part) {
    balancer_->count(part);
    if (batch_.threads.size() != part.threads.size()) batch_.threads.resize(part.threads.size());
    batch_.steps += part.steps;
    batch_.seconds += part.seconds;
    for (std::size_t t = 0; t < part.threads.size(); ++t) {
        Usage& of = batch_.threads[t];
        const Usage& more = part.threads[t];
        of.operations += more.operations;
        of.stolen += more.stolen;
        of.tasks += more.tasks;
        of.waiting += more.waiting;
        of.runtime += more.runtime;
    }
}

/// Looks at the costs of the last step, if it was timed. Called before a step and not after one: when a run
/// ends, nothing moves any more.
void Simulation::balance() {
    if (!balancer_->due()) return;
    auto next = balancer_->look(*plan_, next_serial(), executor_->threads());
    if (!next) return reorder();
    PatchMove move{step_, 0, next->balance_before, next->balance_after, 0};
    Assignment assignment;
    for (const FamilyId f : plan_->assignment().owner.ids()) {
        std::vector<int>& owners = next->owners[static_cast<std::size_t>(f.number())];
        for (std::size_t p = 0; p < owners.size(); ++p)
            move.patches += owners[p] != plan_->assignment().owner[f][p] ? 1 : 0;
        assignment.owner.push_back(std::move(owners));
    }
    const double begin = seconds_now(), cpu_begin = cpu_seconds();
    reassign(std::move(assignment));
    move.seconds = seconds_now() - begin;
    balancer_->planned(cpu_seconds() - cpu_begin);
    balancer_->record().moves.push_back(move);
}

/// Lets the longest operations of the present plan start first, where costs say so.
void Simulation::reorder() {
    if (step_ < reorder_from_ || !plan_->start_longest_first(balancer_->costs())) return;
    const double begin = seconds_now();
    std::vector<Epoch> counts = rounds_of_all();
    end_executor();
    make_executor(std::move(counts));
    reorder_from_ = step_ + balancer_->steps_worth(seconds_now() - begin);
}

RunBytes Simulation::bytes() const {
    RunBytes all = bytes_of(*plan_);
    if (!heap_bytes())
        all.runtime.reset();
    else
        *all.runtime +=
            static_cast<std::uint64_t>(std::max(std::int64_t{0}, graph_heap_ + plan_heap_ + executor_heap_));
    return all;
}

const Assignment& Simulation::assignment() const { return plan_->assignment(); }

std::vector<std::byte> Simulation::values(const Kept& kept, int local) const {
    return read_values(*plan_, kept, local, rounds(kept));
}

BoxCopy Simulation::values_in_place(const Kept& kept, int local) const {
    return graph::values_in_place(*plan_, kept, local, rounds(kept));
}

std::vector<std::uint64_t> Simulation::hashes(const Family& family) const {
    const FamilyId f = number_of(graph_, family);
    std::vector<std::uint64_t> all(plan_->memory().patches()[f].size(), 0);
    for (const Kept& kept : kept_versions(*plan_)) {
        if (graph_.labels()[kept.label].family != &family) continue;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::vector<std::byte> bytes = values(kept, static_cast<int>(i));
            all[i] = (all[i] * 0x9e3779b97f4a7c15U + crc32c(bytes)) ^ (all[i] >> 29U);
        }
    }
    return all;
}

}  // namespace strata::graph
