#include "core/graph/expand/calls/task_call.hpp"

#include <fmt/format.h>

#include <cstring>
#include <ctime>
#include <limits>
#include <memory>

#include "core/graph/declare/inside_here.hpp"

namespace strata::graph {

namespace {

/// For error messages: the call that this thread is in.
class Calling {
  public:
    explicit Calling(const Here& here) { current_call = &here; }
    ~Calling() { current_call = nullptr; }
    Calling(const Calling&) = delete;
    Calling& operator=(const Calling&) = delete;
};

/// Of this thread: an interruption in the middle of a task is no work.
double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void show_particles(const CallExtras& more, UseData* all) {
    for (const CallExtras::ParticleView& each : more.particle_views) {
        const ParticleArrays& arrays = each.column->arrays(*each.patch);
        UseData& data = all[each.use];
        data.origin = each.column->at(arrays);
        data.component = each.column->stride(arrays) / each.column->bytes;
        data.count = each.patch->count;
    }
}

/// A call while it runs. The next call of the same shape in this thread finds most of it in place, and in the
/// same round of its scope all but what is the call's own.
struct Running {
    Here here{};
    TaskCall* call = nullptr;
    UseData* data = nullptr;
    Epoch epoch = 0;
    alignas(64) std::byte room[TaskCall::kInThread * sizeof(UseData)];  // not initialized
};
static_assert(sizeof(Running) <= Worker::kRoom);

/// The parts that all calls of the shape have.
void show_shared(const CallShape& shape, UseData* data) {
    std::uninitialized_copy(shape.uses.begin(), shape.uses.end(), data);
    for (const CallShape::UseInBlock& each : shape.in_block) {
        UseData& use = data[each.use];
        use.origin = each.origin, use.y = each.y, use.z = each.z, use.component = each.component;
    }
}

/// The parts that all calls of the shape have in one round.
template <class At>
void show_round(const CallShape& shape, UseData* data, At at) {
    for (const CallShape::UseAddress& each : shape.addresses.first(shape.of_round))
        data[each.use].origin = at(each.address);
}

/// The parts that differ from call to call.
template <class At>
inline void show_own(const TaskCall& call, const CallShape& shape, UseData* data, At at) {
    for (std::size_t i = shape.of_round; i < shape.addresses.size(); ++i) {
        const CallShape::UseAddress& each = shape.addresses[i];
        data[each.use].origin = call.own()[each.own] + reinterpret_cast<std::intptr_t>(at(each.address));
    }
    if (shape.boxed.empty()) return;
    const BoxAround* around = call.boxes().data();
    const Box& cells = shape.cells[call.local];
    for (const std::uint32_t use : shape.boxed) data[use].box = (around++)->of(cells);
}

void show_contributions(const TaskCall& call, UseData* data) {
    for (const CallShape::ScalarContribution& each : call.shape->scalars)
        data[each.use].origin = call.own()[each.own] + each.bytes;
}

void begin_contributions(const TaskCall& call, const CallShape& shape, UseData* data) {
    for (const CallShape::ScalarContribution& each : shape.scalars)
        write_neutral(*each.label, data[each.use].origin = call.own()[each.own] + each.bytes);
}

/// Once for each call of the task's function, also where that is called again until it is complete.
void begin_once(const CallExtras& more, UseData* data, const Worker& worker) {
    for (const ValueCopy& each : more.collects) each.go(worker);
    for (const HaloRead& each : more.halo_reads) data[each.use] = each.go();
    for (const HaloSum& each : more.halo_sums) data[each.use] = each.go();
    for (const Clear& each : more.clears) {
        std::memset(each.at, 0, each.bytes);
        if (each.times != nullptr) ++*each.times;
    }
}

void begin_round(Running& all, const CallShape& shape, const Worker& worker) {
    show_round(shape, all.data, [&](const RoundAddress& at) { return at.at(worker); });
    all.here.step = shape.steps_before != nullptr ? *shape.steps_before + worker.epoch(0) : 0;
    all.here.round = 0;
    all.epoch = worker.epoch(shape.scope);
    if (shape.scope == 0) return;
    const std::int64_t begun = shape.round_base == nullptr ? 0 : *shape.round_base;
    all.here.round = (all.epoch - 1 - begun) % shape.most;
}

[[gnu::noinline]] Running& begin_shape(const TaskCall& call, const CallShape& shape, Worker& worker) {
    const bool elsewhere = call.more != nullptr && !call.more->room.empty();
    auto& all = *new (worker.kept().room) Running;
    worker.kept().of = elsewhere ? nullptr : &shape;
    all.data = elsewhere ? call.more->room.data() : reinterpret_cast<UseData*>(all.room);
    if (!elsewhere || !call.under_way) show_shared(shape, all.data);
    CallData& inside = InsideHere::of(all.here);
    inside.family = shape.family;
    inside.task = shape.task;
    inside.worker = &worker;
    inside.past_caches = shape.past_caches;
    if (shape.family != nullptr) inside.call = &all, inside.creates = TaskCall::create;
    inside.use_data = {all.data, shape.task->uses.size()};
    begin_round(all, shape, worker);
    return all;
}

/// What all calls of the shape see in this round; and which call it is.
inline Running& running(TaskCall& call, const CallShape& shape, Worker& worker) {
    auto* all = reinterpret_cast<Running*>(worker.kept().room);
    if (worker.kept().of != &shape)
        all = &begin_shape(call, shape, worker);
    else if (all->epoch != worker.epoch(shape.scope))
        begin_round(*all, shape, worker);
    all->call = &call;
    all->here.patch = call.patch;
    return *all;
}

/// What few tasks have, and calls that go on.
void begin_rest(TaskCall& call, Running& all, const Worker& worker) {
    if (call.under_way) show_contributions(call, all.data);
    if (call.more == nullptr) return;
    const bool in_thread = all.data == reinterpret_cast<UseData*>(all.room);
    if (!call.under_way || in_thread) show_particles(*call.more, all.data);
    if (!call.under_way) begin_once(*call.more, all.data, worker);
    CallData& inside = InsideHere::of(all.here);
    inside.moves = call.more->moves;
    inside.owns = call.more->owns;
    for (Here& each : call.more->all_own) each.step = all.here.step, each.round = all.here.round;
}

}  // namespace

std::optional<BoxAround> BoxAround::from(const Box& cells, const Box& box) {
    using Limits = std::numeric_limits<std::int8_t>;
    BoxAround around;
    const auto fits = [](std::int64_t distance, std::int8_t& to) {
        to = static_cast<std::int8_t>(distance);
        return distance >= Limits::min() && distance <= Limits::max();
    };
    for (std::size_t a = 0; a < 3; ++a)
        if (!fits(std::int64_t{box.lo[a]} - cells.lo[a], around.lo[a]) ||
            !fits(std::int64_t{box.hi[a]} - cells.hi[a], around.hi[a]))
            return std::nullopt;
    return around;
}

void TaskCall::show(UseData* data) const {
    const auto at = [](const RoundAddress& of) { return of.base; };
    show_shared(*shape, data);
    show_round(*shape, data, at);
    show_own(*this, *shape, data, at);
    show_contributions(*this, data);
}

void TaskCall::create(void* calling, SetId set, std::int64_t count) {
    Running& running = *static_cast<Running*>(calling);
    const CallShape& shape = *running.call->shape;
    const Graph& graph = *shape.task->graph;
    if (!graph.particle_sets().has(set))
        running.here.fail("creates particles of a set that the graph does not have");
    const ParticleSet& of = graph.particle_sets()[set];
    if (running.call->more != nullptr && shape.populations != nullptr)
        for (const CallExtras::ParticleView& each : running.call->more->particle_views) {
            const Use& use = shape.task->uses[each.use];
            if (use.version.label != of.id_label || use.access != Access::make) continue;
            shape.populations->create(of, running.here.patch, *each.patch, count);
            show_particles(*running.call->more, running.data);
            return;
        }
    running.here.fail(fmt::format(
        "creates particles of '{0}', which only a task of the start scope may that makes '{0}.id'", of.name));
}

OpWork TaskCall::work() const {
    if (shape->family == nullptr) return {};
    const auto* grid = dynamic_cast<const Grid*>(shape->family);
    const double values = grid == nullptr ? 1.0 : static_cast<double>(grid->box(patch).volume());
    return {static_cast<float>(shape->task->flops * values), static_cast<float>(shape->task->bytes * values),
            static_cast<float>(values)};
}

Outcome TaskCall::go(void* what, Worker& worker) {
    auto& call = *static_cast<TaskCall*>(what);
    const CallShape& shape = *call.shape;
    const bool measured = *shape.measured, rest = call.more != nullptr || call.under_way;
    const double begin = measured ? cpu_seconds() : 0.0;
    Running& all = running(call, shape, worker);
    show_own(call, shape, all.data, [&](const RoundAddress& at) { return at.at(worker); });
    if (rest) begin_rest(call, all, worker);
    if (!call.under_way) begin_contributions(call, shape, all.data);
    bool done = false;
    {
        const Calling calling(all.here);
        done = shape.task->body(all.here);
    }
    if (rest || !done) call.under_way = done ? 0 : 1;  // mostly nothing is written
    if (call.more != nullptr) {
        for (ObjectMade* made : call.more->made) *made = {shape.task->id, all.here.step, all.here.round};
        if (done)
            for (const HaloRead& each : call.more->halo_reads) each.end();
    }
    if (measured) call.seconds += static_cast<float>(cpu_seconds() - begin);
    return done ? Outcome::done : Outcome::later;
}

}  // namespace strata::graph
