#include "core/graph/expand/task_call.hpp"

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

/// A call while it runs. The next call of the same shape in this thread finds most of it in place.
struct Running {
    Here here{};
    TaskCall* call = nullptr;
    UseData* data = nullptr;
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

/// The parts that differ from call to call.
template <class At>
void show_own(const TaskCall& call, UseData* data, At at) {
    const CallShape& shape = *call.shape;
    for (const CallShape::UseAddress& each : shape.addresses) {
        std::byte* const base = at(each.address);
        data[each.use].origin = each.own == CallShape::kAbsolute
                                    ? base
                                    : call.own()[each.own] + reinterpret_cast<std::intptr_t>(base);
    }
    const std::span<const BoxAround> around = call.boxes();
    for (std::size_t b = 0; b < around.size(); ++b)
        data[shape.boxed[b]].box = around[b].of(shape.cells[call.local]);
}

void show_contributions(const TaskCall& call, UseData* data) {
    for (const CallShape::ScalarContribution& each : call.shape->scalars)
        data[each.use].origin = call.own()[each.own] + each.bytes;
}

/// What all calls of the shape see.
Running& running(TaskCall& call, Worker& worker) {
    const CallShape& shape = *call.shape;
    auto* all = reinterpret_cast<Running*>(worker.kept().room);
    const bool elsewhere = call.more != nullptr && !call.more->room.empty();
    if (worker.kept().of != &shape || elsewhere) {
        all = new (worker.kept().room) Running;
        worker.kept().of = elsewhere ? nullptr : &shape;
        all->data = elsewhere ? call.more->room.data() : reinterpret_cast<UseData*>(all->room);
        if (!elsewhere || !call.under_way) show_shared(shape, all->data);
        CallData& inside = InsideHere::of(all->here);
        inside.family = shape.family;
        inside.task = shape.task;
        inside.worker = &worker;
        inside.past_caches = shape.past_caches;
        if (shape.family != nullptr) inside.call = all, inside.creates = TaskCall::create;
        inside.use_data = {all->data, shape.task->uses.size()};
    }
    all->call = &call;
    return *all;
}

/// Once for each call of the task's function, also where that is called again until it is complete.
void begin_once(const TaskCall& call, UseData* data, const Worker& worker) {
    if (const CallExtras* const more = call.more; more != nullptr) {
        for (const ValueCopy& each : more->collects) each.go(worker);
        for (const HaloRead& each : more->halo_reads) data[each.use] = each.go();
        for (const HaloSum& each : more->halo_sums) data[each.use] = each.go();
        for (const Clear& each : more->clears) {
            std::memset(each.at, 0, each.bytes);
            if (each.times != nullptr) ++*each.times;
        }
    }
    for (const CallShape::ScalarContribution& each : call.shape->scalars)
        write_neutral(*each.label, data[each.use].origin = call.own()[each.own] + each.bytes);
}

void fill_in(Running& all, const Worker& worker) {
    const CallShape& shape = *all.call->shape;
    Here& here = all.here;
    here.patch = all.call->patch;
    here.step = shape.steps_before != nullptr ? *shape.steps_before + worker.epoch(0) : 0;
    here.round = 0;
    if (shape.scope != 0) {
        const std::int64_t begun = shape.round_base == nullptr ? 0 : *shape.round_base;
        here.round = (worker.epoch(shape.scope) - 1 - begun) % shape.most;
    }
    const CallExtras* const more = all.call->more;
    if (more == nullptr) return;
    CallData& inside = InsideHere::of(here);
    inside.moves = more->moves;
    inside.owns = more->owns;
    for (Here& each : more->all_own) each.step = here.step, each.round = here.round;
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
    show_shared(*shape, data);
    show_own(*this, data, [](const RoundAddress& at) { return at.base; });
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

Outcome TaskCall::go(void* what, Worker& worker) {
    auto& call = *static_cast<TaskCall*>(what);
    const CallShape& shape = *call.shape;
    const bool measured = *shape.measured;
    const double begin = measured ? cpu_seconds() : 0.0;
    Running& all = running(call, worker);
    if (!call.under_way || all.data == reinterpret_cast<UseData*>(all.room)) {
        show_own(call, all.data, [&](const RoundAddress& at) { return at.at(worker); });
        if (call.more != nullptr) show_particles(*call.more, all.data);
    }
    call.under_way ? show_contributions(call, all.data) : begin_once(call, all.data, worker);
    fill_in(all, worker);
    const Calling calling(all.here);
    const bool done = shape.task->body(all.here);
    if (done == (call.under_way != 0)) call.under_way = done ? 0 : 1;  // mostly nothing is written
    if (call.more != nullptr)
        for (ObjectMade* made : call.more->made) *made = {shape.task->id, all.here.step, all.here.round};
    if (measured) call.seconds += static_cast<float>(cpu_seconds() - begin);
    return done ? Outcome::done : Outcome::later;
}

}  // namespace strata::graph
