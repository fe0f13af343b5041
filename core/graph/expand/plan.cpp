// The plan's life: made anew, or in place of another one.
#include <cstring>
#include <exception>
#include <map>

#include "core/graph/expand/assign/home.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/graph/expand/stages/stages.hpp"
#include "core/graph/expand/values.hpp"
#include "core/machine/last_cache.hpp"

namespace strata::graph {

Plan::Plan(const Graph& graph, const Resolved& resolved, const Assignment& assignment, const Members& members,
           int threads, std::uint64_t serial)
    : graph_(graph),
      resolved_(resolved),
      assignment_(assignment),
      members_(members),
      memory_(graph, resolved, assignment_, members, serial) {
    for (const StorageId s : resolved.storages.ids()) {
        const LabelInfo& label = label_of(graph, resolved.storages[s]);
        if (label.kind != Kind::scalar) continue;
        const PatchArray& array = memory_.own(s, 0);
        for (int b = 0; b < resolved.storages[s].depth; ++b)
            write_first(label, array.origin + b * array.buffer_stride);
    }
    parts_ = detail::build({graph, resolved, assignment_, members, memory_, threads, serial, past_caches(),
                            &steps_before_, &measured_, sums_in_place(graph, resolved)});
    members_.meet();  // no process runs before all have looked up their addresses
}

/// Processes of a node have about as much each. Their steps go through all of it, so what is stored stays in
/// a cache until the next step only where the caches hold it all.
bool Plan::past_caches() const {
    static const std::uint64_t caches = machine::last_level_caches();
    return caches > 0 && memory_.bytes() * static_cast<std::size_t>(members_.on_node()) > caches;
}

Plan::Plan(const Plan& old, const Assignment& assignment, int threads, std::uint64_t serial,
           const std::vector<Epoch>& rounds)
    : Plan(old.graph_, old.resolved_, assignment, old.members_, threads, serial) {
    steps_before_ = old.steps_before_;
    take_over(old);
    take_over_from_afar(old);
    const auto set = [&](const Block& block, const auto& again) -> void {
        for (const auto& list : block.order)
            for (const std::uint32_t op : list)
                parts_.of(1).program.ops[op].flag->store(rounds[block.scope], std::memory_order_relaxed);
        for (const auto& inner : block.inside) again(*inner, again);
    };
    set(parts_.of(1).program.step, set);
    members_.meet();
    fill_halos();
    members_.meet();  // no process runs, or frees the old plan, before all have their values of it
}

void Plan::for_own_patches(const std::function<void(FamilyId family, int local)>& work) const {
    members_.in_threads([&](int thread, int threads) {
        for (const FamilyId f : graph_.families().ids()) {
            const std::vector<int> home = home_threads(*graph_.families()[f], memory_.patches()[f], threads);
            for (std::size_t i = 0; i < home.size(); ++i)
                if (home[i] == thread) work(f, static_cast<int>(i));
        }
    });
}

/// Kept values, all buffers, from the patches' owners before, where they are of this node.
void Plan::take_over(const Plan& old) {
    VectorBy<FamilyId, std::vector<StorageId>> kept(graph_.families().size());
    for (const StorageId s : resolved_.storages.ids()) {
        if (!resolved_.storages[s].kept || memory_.objects().is_object(s)) continue;
        const LabelInfo& label = label_of(graph_, resolved_.storages[s]);
        if (label.kind == Kind::scalar) {
            const PatchArray &from = old.memory_.own(s, 0), &to = memory_.own(s, 0);
            std::memcpy(to.origin, from.origin,
                        static_cast<std::size_t>(resolved_.storages[s].depth * to.buffer_stride));
        } else {
            kept[number_of(graph_, *label.family)].push_back(s);
        }
    }
    for_own_patches([&](FamilyId family, int local) {
        const int patch = memory_.patches()[family][static_cast<std::size_t>(local)];
        if (!members_.is_on_node(old.assignment_.owner[family][static_cast<std::size_t>(patch)])) return;
        for (const StorageId s : kept[family]) take_over(old, s, patch, local);
    });
}

void Plan::take_over(const Plan& old, StorageId storage, int patch, int local) {
    const Storage& of = resolved_.storages[storage];
    const LabelInfo& label = label_of(graph_, of);
    const FamilyId family = number_of(graph_, *label.family);
    const int before = old.assignment_.owner[family][static_cast<std::size_t>(patch)];
    const int local_before = old.assignment_.local[family][static_cast<std::size_t>(patch)];
    if (label.kind == Kind::particles) {
        memory_.populations().take_over(
            storage, old.memory_.populations().of(before, label.particle_set, local_before),
            memory_.populations().own(label.particle_set, local));
        return;
    }
    const PatchArray& from = old.memory_.of(before, storage, local_before);
    const PatchArray& to = memory_.own(storage, local);
    for (int b = 0; b < of.depth; ++b)
        copy_box(values_copy(label, patch, from, from.origin + b * from.buffer_stride, to,
                             to.origin + b * to.buffer_stride));
}

namespace {

/// Calls each(storage, label, family, patch, its owner before, now) for kept values of the patches that move
/// from another node to this process (`to_here`), or away from it.
template <class Each>
void each_moved(const Plan& old, const Plan& plan, bool to_here, Each each) {
    const Members& members = plan.members();
    for (const StorageId s : plan.resolved().storages.ids()) {
        const LabelInfo& label = label_of(plan.graph(), plan.resolved().storages[s]);
        if (!plan.resolved().storages[s].kept || label.family == nullptr || label.kind == Kind::object)
            continue;
        const FamilyId f = number_of(plan.graph(), *label.family);
        const std::vector<int>&before = old.assignment().owner[f], &now = plan.assignment().owner[f];
        for (std::size_t p = 0; p < now.size(); ++p)
            if ((to_here ? now : before)[p] == members.rank &&
                !members.is_on_node((to_here ? before : now)[p]))
                each(s, label, f, p, before[p], now[p]);
    }
}

/// [process] -> the values that it takes over, storage by storage.
std::vector<std::vector<std::byte>> moved_away(const Plan& old, const Plan& plan) {
    const Populations& particles = old.memory().populations();
    std::vector<std::vector<std::byte>> sent(static_cast<std::size_t>(plan.members().size));
    each_moved(
        old, plan, false, [&](StorageId s, const LabelInfo& label, FamilyId f, std::size_t p, int, int now) {
            std::vector<std::byte>& out = sent[static_cast<std::size_t>(now)];
            const int local = old.assignment().local[f][p];
            if (label.kind == Kind::particles) {
                const std::vector<std::byte> values =
                    particles.read(s, particles.own(label.particle_set, local));
                const std::size_t bytes = values.size(), at = out.size();
                out.resize(at + sizeof bytes);
                std::memcpy(out.data() + at, &bytes, sizeof bytes);
                out.insert(out.end(), values.begin(), values.end());
                return;
            }
            const PatchArray& from = old.memory().own(s, local);
            for (int b = 0; b < plan.resolved().storages[s].depth; ++b) {
                const std::byte* origin = from.origin + b * from.buffer_stride;
                const BoxCopy copy = values_copy(label, static_cast<int>(p), from, origin, from, nullptr);
                const std::size_t at = out.size();
                out.resize(at + static_cast<std::size_t>(copy.volume()));
                pack_box(copy, out.data() + at);
            }
        });
    return sent;
}

struct Arrived {
    StorageId storage;
    std::span<const std::byte> values;
};

}  // namespace

/// The same between nodes: the owner before sends a patch's kept values to the owner now.
void Plan::take_over_from_afar(const Plan& old) {
    if (members_.messages == nullptr) return;
    const auto had = members_.messages->exchange(moved_away(old, *this));
    std::vector<const std::byte*> next;
    for (const auto& from : had) next.push_back(from.data());
    std::map<std::pair<FamilyId, int>, std::vector<Arrived>> arrived;
    each_moved(old, *this, true,
               [&](StorageId s, const LabelInfo& label, FamilyId f, std::size_t p, int before, int) {
                   const std::byte*& in = next[static_cast<std::size_t>(before)];
                   const int local = assignment_.local[f][p];
                   std::size_t bytes = 0;
                   if (label.kind == Kind::particles) {
                       std::memcpy(&bytes, in, sizeof bytes);
                       in += sizeof bytes;
                   } else {
                       const PatchArray& to = memory_.own(s, local);
                       bytes =
                           static_cast<std::size_t>(
                               values_copy(label, static_cast<int>(p), to, nullptr, to, nullptr).volume()) *
                           static_cast<std::size_t>(resolved_.storages[s].depth);
                   }
                   arrived[{f, local}].push_back({s, {in, bytes}});
                   in += bytes;
               });
    for_own_patches([&](FamilyId family, int local) {
        const auto of = arrived.find({family, local});
        if (of == arrived.end()) return;
        for (const auto& [storage, values] : of->second)
            put(storage, memory_.patches()[family][static_cast<std::size_t>(local)], local, values);
    });
}

/// Values in the form of moved_away(), all buffers.
void Plan::put(StorageId storage, int patch, int local, std::span<const std::byte> values) {
    const LabelInfo& label = label_of(graph_, resolved_.storages[storage]);
    if (label.kind == Kind::particles) {
        Populations& ours = memory_.populations();
        return ours.write(storage, ours.own(label.particle_set, local), values);
    }
    const PatchArray& to = memory_.own(storage, local);
    const std::byte* in = values.data();
    for (int b = 0; b < resolved_.storages[storage].depth; ++b)
        in = unpack_box(values_copy(label, patch, to, nullptr, to, to.origin + b * to.buffer_stride), in);
}

Plan::~Plan() {
    try {
        if (std::uncaught_exceptions() == 0) stop_listening();
    } catch (const std::exception&) {  // a member is gone: the run ends anyway
    }
}

void Plan::listen(int phase, const std::vector<Epoch>& rounds) {
    for (const auto& [channel, scope] : parts_.of(phase).listening)
        channel->listen((scope < rounds.size() ? rounds[scope] : 0) + 1);
}

void Plan::stop_listening() {
    for (const int phase : {0, 1}) {
        if (!parts_.has(phase)) continue;
        ProgramData& program = parts_.of(phase);
        for (const auto& [channel, scope] : program.listening) channel->stop();
        for (Channel* channel : program.sending) channel->stop();
        program.listening.clear();
        program.sending.clear();
    }
}

void Plan::exchange_kept() {
    if (members_.messages == nullptr) return;
    std::vector<std::vector<std::byte>> given;
    for (const Exchanged& with : parts_.exchanged) {
        std::size_t bytes = 0;
        for (const Parcel& each : with.given) bytes += each.bytes() * each.values.depth;
        for (const ParticleParcel& each : with.particles_given) bytes += each.bytes();
        given.emplace_back(bytes);
        std::byte* next = given.back().data();
        for (const Parcel& each : with.given)
            for (Epoch buffer = 0; buffer < each.values.depth; ++buffer)
                next = each.pack(each.values.at(buffer), next);
        for (const ParticleParcel& each : with.particles_given) next = each.pack(next);
    }
    const auto taken = members_.messages->exchange(given);
    for (std::size_t process = 0; process < taken.size(); ++process) {
        const std::byte* next = taken[process].data();
        for (const Parcel& each : parts_.exchanged[process].taken)
            for (Epoch buffer = 0; buffer < each.values.depth; ++buffer)
                next = each.unpack(next, each.values.at(buffer));
        for (const ParticleParcel& each : parts_.exchanged[process].particles_taken) next = each.unpack(next);
    }
}

VectorBy<FamilyId, std::vector<double>> Plan::take_costs() {
    VectorBy<FamilyId, std::vector<double>> costs;
    for (const auto& patches : memory_.patches()) costs.emplace_back(patches.size(), 0.0);
    for (const Op& op : parts_.of(1).program.ops) {
        if (op.go != TaskCall::go) continue;
        auto& call = *static_cast<TaskCall*>(op.what);
        const Family* of = call.shape->family;
        if (of == nullptr) continue;  // of the whole process
        const FamilyId family = number_of(graph_, *of);
        const auto local =
            static_cast<std::size_t>(assignment_.local[family][static_cast<std::size_t>(call.patch)]);
        costs[family][local] += call.seconds;
        call.seconds = 0;
    }
    return costs;
}

void Plan::fill_halos() {
    exchange_kept();
    for (const HaloRenewal& each : parts_.halos_again) each.again();
    for (const int phase : {0, 1})
        for (const auto& [storage, call] : refills(phase)) {
            const auto depth = static_cast<Epoch>(resolved_.storages[storage].depth);
            for (Epoch buffer = 0; buffer < depth; ++buffer)
                for (const ValueCopy& move : call->moves()) move.go(buffer);
        }
}

std::vector<std::pair<StorageId, const FillCall*>> Plan::refills(int phase) const {
    std::vector<std::pair<StorageId, const FillCall*>> all;
    if (!parts_.has(phase)) return all;
    for (const FillCall* call : parts_.of(phase).refills) all.emplace_back(call->kept, call);
    for (const Op& op : parts_.of(phase).program.ops)
        if (op.go == FillCall::go)
            if (const auto& call = *static_cast<const FillCall*>(op.what); call.kept)
                all.emplace_back(call.kept, &call);
    return all;
}

void Plan::forget_start() {
    if (!parts_.has(0)) return;
    for (Channel* channel : parts_.of(0).sending) channel->stop();
    for (const auto& [channel, scope] : parts_.of(0).listening) channel->stop();
    parts_.start.reset();
    parts_.directory = SharedMemory();  // read while plans were made
}

std::size_t Plan::shared_bytes() const {
    std::size_t all = memory_.table_bytes();
    const auto add = [&](const SharedMemory& memory) { all += memory.data() == nullptr ? 0 : memory.size(); };
    add(parts_.flags), add(parts_.directory), add(parts_.partials);
    for (const SharedMemory& each : parts_.departures) add(each);
    return all;
}

}  // namespace strata::graph
