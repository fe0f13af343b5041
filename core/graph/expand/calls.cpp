#include "core/graph/expand/calls.hpp"

#include <fmt/format.h>

#include <cstring>
#include <ctime>

#include "core/graph/declare/inside_here.hpp"

namespace strata::graph {

void ValueCopy::copy(const std::byte* source, std::byte* target) const {
    if (entries.data() == nullptr) {
        BoxCopy whole = box;
        whole.from = source, whole.to = target;
        copy_box(whole);
        if (turn != nullptr) turn_vectors(whole, *turn);
        return;
    }
    for (int c = 0; c < components; ++c, source += from_component, target += to_component) {
        if (bytes == 8)
            for (std::size_t i = 0; i < entries.size(); ++i)
                std::memcpy(target + i * 8, source + std::int64_t{entries[i]} * 8, 8);
        else
            for (std::size_t i = 0; i < entries.size(); ++i)
                std::memcpy(target + i * bytes, source + std::int64_t{entries[i]} * bytes, bytes);
    }
}

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

}  // namespace

void TaskCall::show_particles() {
    for (const ParticleView& each : particle_views) {
        const ParticleArrays& arrays = each.column->arrays(*each.patch);
        UseData& data = use_data[each.use];
        data.origin = each.column->at(arrays);
        data.component = each.column->stride(arrays) / each.column->bytes;
        data.count = each.patch->count;
    }
}

void TaskCall::create(void* call, SetId set, std::int64_t count) {
    auto& self = *static_cast<TaskCall*>(call);
    const Graph& graph = *InsideHere::of(self.here).task->graph;
    if (!graph.particle_sets().has(set))
        self.here.fail("creates particles of a set that the graph does not have");
    const ParticleSet& of = graph.particle_sets()[set];
    for (const ParticleView& each : self.particle_views) {
        const Use& use = InsideHere::of(self.here).task->uses[each.use];
        if (use.version.label != of.id_label || use.access != Access::make || self.populations == nullptr)
            continue;
        self.populations->create(of, self.here.patch, *each.patch, count);
        self.show_particles();
        return;
    }
    self.here.fail(fmt::format(
        "creates particles of '{0}', which only a task of the start scope may that makes '{0}.id'", of.name));
}

Outcome TaskCall::go(void* what, Worker& worker) {
    auto& call = *static_cast<TaskCall*>(what);
    const double begin = *call.measured ? cpu_seconds() : 0.0;
    if (!call.under_way) {
        for (const UseAddress& each : call.addresses)
            call.use_data[each.use].origin = each.address.at(worker);
        call.show_particles();
        for (const ValueCopy& each : call.collects) each.go(worker);
        for (const HaloRead& each : call.halo_reads) call.use_data[each.use] = each.go();
        for (const HaloSum& each : call.halo_sums) call.use_data[each.use] = each.go();
        for (const Clear& each : call.clears) {
            std::memset(each.at, 0, each.bytes);
            if (each.times != nullptr) ++*each.times;
        }
        for (const auto& [at, label] : call.scalars) write_neutral(*label, at);
        if (call.steps_before != nullptr) call.here.step = *call.steps_before + worker.epoch(0);
        if (call.scope != 0) {
            const std::int64_t begun = call.round_base == nullptr ? 0 : *call.round_base;
            call.here.round = (worker.epoch(call.scope) - 1 - begun) % call.most;
        }
        for (Here& each : call.all_own) each.step = call.here.step, each.round = call.here.round;
    }
    CallData& inside = InsideHere::of(call.here);
    inside.worker = &worker;
    const Calling calling(call.here);
    const bool done = inside.task->body(call.here);
    call.under_way = !done;
    for (ObjectMade* made : call.made) *made = {inside.task->id, call.here.step, call.here.round};
    if (*call.measured) call.seconds += cpu_seconds() - begin;
    return done ? Outcome::done : Outcome::later;
}

Outcome FillCall::go(void* what, Worker& worker) {
    for (const ValueCopy& each : static_cast<const FillCall*>(what)->moves) each.go(worker);
    return Outcome::done;
}

namespace {

template <class T>
void add_entries(T* to, const T* from, const CombineCall::Entries& part, std::int64_t count) {
    if (part.here.data() == nullptr)
        for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
    else
        for (std::size_t i = 0; i < part.here.size(); ++i) to[part.here[i]] += from[part.there[i]];
}

template <class T>
void combine_lists(const CombineCall& call, std::byte* to, const Worker& worker) {
    for (const auto& part : call.lists) {
        const auto* from = reinterpret_cast<const T*>(part.from.at(worker));
        for (int c = 0; c < call.components; ++c)
            add_entries(reinterpret_cast<T*>(to) + c * call.component, from + c * part.from_component, part,
                        call.count);
    }
}

}  // namespace

Outcome CombineCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const CombineCall*>(what);
    std::byte* to = call.to.at(worker);
    if (call.field) {
        constexpr std::size_t kUsual = 27;  // a patch and those around it
        std::byte* usual[kUsual];
        std::vector<std::byte*> many;
        std::byte** parts = usual;
        if (call.parts.size() > kUsual) {
            many.resize(call.parts.size());
            parts = many.data();
        }
        for (std::size_t p = 0; p < call.parts.size(); ++p) parts[p] = call.parts[p].at(worker);
        call.add(*call.rows, to, parts);
        return Outcome::done;
    }
    for (int c = 0; c < call.components; ++c)
        std::memset(to + c * call.component * call.bytes, 0,
                    static_cast<std::size_t>(call.count * call.bytes));
    switch (call.element) {
        case Element::f64:
            combine_lists<double>(call, to, worker);
            break;
        case Element::f32:
            combine_lists<float>(call, to, worker);
            break;
        case Element::i64:
            combine_lists<std::int64_t>(call, to, worker);
            break;
        default:
            combine_lists<std::int32_t>(call, to, worker);
            break;
    }
    return Outcome::done;
}

bool DecideCall::more(const void* what, Epoch epoch) {
    const auto& call = *static_cast<const DecideCall*>(what);
    const bool more = (*call.test)(call.scalar.at(epoch)) == call.more_if;
    if (!more && call.round_base != nullptr) *call.round_base = epoch;
    return more;
}

Outcome FetchCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const FetchCall*>(what);
    std::memcpy(call.to.at(worker), call.from.at(worker), call.bytes);
    return Outcome::done;
}

}  // namespace strata::graph
