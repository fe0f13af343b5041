// Operations that send what this process has made to other nodes, and that receive what it needs of them.
//
// A task of whose values another process needs some has, after its own operations, one that packs them and
// one that sends; the other process has one that receives in the same place of its program and one that puts
// them where the images of those patches are. So who reads waits for its own process only, and so does who
// writes: for the packing of what was there before. What is put into an image waits for all who read it here.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/graph/expand/builder.hpp"

namespace strata::graph::detail {

namespace {

bool writes(const ResolvedTask& task, const TaskInfo* body, std::size_t use) {
    if (task.what != ResolvedTask::What::body) return use == 0;
    const Access access = body->uses[use].access;
    return access == Access::make || access == Access::modify || access == Access::sum;
}

}  // namespace

Stream& PlanBuilder::add_stream(bool outgoing, Stream::What what, TaskId maker, int process, int tag) {
    TaskOps& of = ops(maker);
    std::vector<Stream>& all = outgoing ? outgoing_ : incoming_;
    (outgoing ? of.outgoing : of.incoming).push_back(all.size());
    Stream stream;
    stream.what = what;
    stream.maker = maker;
    stream.process = process;
    stream.channel = &program_data(of.phase).channels.one();
    *stream.channel = Channel(members_, process, tag);
    const std::string of_what = resolved(maker).name;
    const ScopeId scope = resolved(maker).scope;
    const auto add = [&](OpKind kind, const std::string& name, int thread) {
        const std::uint32_t op = add_op(of.phase, kind, name, -1, thread, scope);
        program_data(of.phase).program.ops[op].speaks_mpi = kind == OpKind::send || kind == OpKind::receive;
        return op;
    };
    const int helper = static_cast<int>(all.size()) % threads_;
    if (outgoing) {
        stream.first = add(OpKind::copy, "pack " + of_what, helper);
        stream.second = add(OpKind::send, "send " + of_what, 0);
    } else {
        stream.first = add(OpKind::receive, "receive " + of_what, 0);
        if (what == Stream::What::values || what == Stream::What::part_of_reduction)
            stream.second = add(OpKind::copy, "unpack " + of_what, helper);
    }
    all.push_back(std::move(stream));
    return all.back();
}

void PlanBuilder::number_messages() {
    if (members_.messages == nullptr) return;
    if (2 * resolved_.tasks.size() > static_cast<std::size_t>(team::Messages::kLastTag))
        throw Error("a graph has too many tasks to be divided among nodes")
            .given(fmt::format("{}", resolved_.tasks.size()))
            .allowed(fmt::format("{}", team::Messages::kLastTag / 2));
    const auto number = [&](bool outgoing, const std::vector<Needs>& all) {
        for (int process = 0; process < members_.size; ++process)
            for (const auto& [key, need] : all[static_cast<std::size_t>(process)]) {
                if (!key.maker) continue;
                std::vector<Stream>& streams = outgoing ? outgoing_ : incoming_;
                if (streams.empty() || streams.back().process != process || streams.back().maker != key.maker)
                    add_stream(outgoing, !key.storage ? Stream::What::leavers : Stream::What::values,
                               key.maker, process, 2 * key.maker.number());
                streams.back().keys.push_back(key);
                if (outgoing && key.storage) packing_[{key.storage, key.patch}].push_back(streams.size() - 1);
            }
    };
    number(true, asked_);
    number(false, needs_);
    number_reductions();
}

/// The first processes of the nodes are a tree.
void PlanBuilder::number_reductions() {
    if (members_.rank != members_.first()) return;
    const int nodes = static_cast<int>(members_.firsts.size()) - 1;
    const auto root = [&](int node) { return members_.firsts[static_cast<std::size_t>(node)]; };
    for (const TaskId task : resolved_.tasks.ids()) {
        if (resolved_.tasks[task].what != ResolvedTask::What::reduce) continue;
        if (members_.node > 0) {
            const int up = root((members_.node - 1) / kBranches);
            add_stream(true, Stream::What::part_of_reduction, task, up, 2 * task.number());
            add_stream(false, Stream::What::reduced, task, up, 2 * task.number() + 1);
        }
        for (int b = 1; b <= kBranches; ++b)
            if (const int child = members_.node * kBranches + b; child < nodes) {
                add_stream(false, Stream::What::part_of_reduction, task, root(child), 2 * task.number());
                add_stream(true, Stream::What::reduced, task, root(child), 2 * task.number() + 1);
            }
    }
}

/// Which version of the storage the maker makes.
int PlanBuilder::back_of_maker(const NeedKey& key) const {
    if (!key.maker) return 0;
    const ResolvedTask& task = resolved(key.maker);
    const TaskInfo* body = task.what == ResolvedTask::What::body ? &info(key.maker) : nullptr;
    for (std::size_t u = 0; u < task.uses.size(); ++u)
        if (task.uses[u].storage == key.storage && writes(task, body, u)) return task.uses[u].back;
    return 0;
}

/// The values of one patch that were asked for, where they lie: of the buffer that the maker writes, or, to
/// be asked for one buffer after the other (`half` -1), of all.
void PlanBuilder::add_parcels(int phase, const NeedKey& key, const Need& need, const PatchArray& array,
                              std::vector<Parcel>& parcels) {
    const Storage& in = storage(key.storage);
    const LabelInfo& of = label_of(graph_, in);
    const auto values_at = [&](const Int3& first) {
        std::byte* base = array.origin + distance(array, first, of.bytes);
        if (phase >= 0) return address(phase, key.storage, base, array.buffer_stride, back_of_maker(key));
        return RoundAddress{base, array.buffer_stride, static_cast<std::uint32_t>(in.depth), 0, 0};
    };
    const auto bytes = static_cast<std::uint32_t>(of.bytes);
    for (const Box& box : need.boxes) {
        Parcel parcel;
        parcel.values = values_at(box.lo);
        parcel.box = {nullptr,
                      nullptr,
                      strides(array, of.bytes),
                      strides(array, of.bytes),
                      {box.extent(0), box.extent(1), box.extent(2)},
                      of.components,
                      bytes};
        parcels.push_back(parcel);
    }
    if (need.entries.empty()) return;
    std::vector<std::int32_t> entries = need.entries;
    Box owned;
    if (of.kind == Kind::field) {
        owned = static_cast<const Grid&>(*of.family).owned(key.patch, of.on, of.border);
        for (std::int32_t& entry : entries) entry = entry_in(array, owned, entry);
    }
    Parcel parcel;
    parcel.values = values_at(owned.lo);
    parcel.box.components = of.components;
    parcel.box.bytes = bytes;
    parcel.entries = this->program_data(std::max(phase, 0)).indices.keep(entries);
    parcel.component = array.component * static_cast<std::int64_t>(of.bytes);
    parcel.list = true;
    parcels.push_back(parcel);
}

void PlanBuilder::make_messages() {
    for (const Stream& stream : outgoing_) make_sends(stream);
    for (Stream& stream : incoming_) make_receives(stream);
    // Kept values are exchanged as they are before the first step, whoever made them.
    for (std::size_t process = 0; process < asked_.size(); ++process) {
        Plan::Exchanged& all = plan_.exchanged_.emplace_back();
        for (const auto& [key, need] : asked_[process])
            if (key.storage && storage(key.storage).kept)
                add_parcels(-1, key, need,
                            plan_.memory_.own(key.storage, local(family_of(key.storage), key.patch)),
                            all.given);
        for (const auto& [key, need] : needs_[process])
            if (key.storage && storage(key.storage).kept)
                add_parcels(-1, key, need, images_.at({key.storage, key.patch}).array, all.taken);
    }
}

/// What goes through a stream of values, at this end of it.
std::vector<Parcel> PlanBuilder::parcels_of(const Stream& stream, bool outgoing) {
    const Needs& needs = (outgoing ? asked_ : needs_)[static_cast<std::size_t>(stream.process)];
    std::vector<Parcel> parcels;
    for (const NeedKey& key : stream.keys)
        add_parcels(ops(stream.maker).phase, key, needs.at(key),
                    outgoing ? plan_.memory_.own(key.storage, local(family_of(key.storage), key.patch))
                             : images_.at({key.storage, key.patch}).array,
                    parcels);
    return parcels;
}

namespace {

/// So many bytes next to each other.
Parcel plain(const RoundAddress& values, std::size_t bytes) {
    Parcel parcel;
    parcel.values = values;
    parcel.box.extent = {static_cast<int>(bytes), 1, 1};
    parcel.box.bytes = 1;
    return parcel;
}

std::size_t bytes_of(const std::vector<Parcel>& parcels) {
    std::size_t bytes = 0;
    for (const Parcel& each : parcels) bytes += each.bytes();
    return bytes;
}

}  // namespace

/// A reduction's value in this process.
RoundAddress PlanBuilder::result_of(TaskId task) {
    const StorageId storage = resolved(task).uses[0].storage;
    const PatchArray& array = plan_.memory_.own(storage, 0);
    return address(ops(task).phase, storage, array.origin, array.buffer_stride, 0);
}

void PlanBuilder::make_sends(const Stream& stream) {
    ProgramData& all = program_data(ops(stream.maker).phase);
    const std::uint16_t scope = scope_of(resolved(stream.maker).scope);
    Op& pack = all.program.ops[stream.first];
    if (stream.what != Stream::What::leavers) {
        std::vector<Parcel> parcels;
        const auto made = [&]() -> const LabelInfo& { return label(resolved(stream.maker).completed.label); };
        if (stream.what == Stream::What::values)
            parcels = parcels_of(stream, true);
        else if (stream.what == Stream::What::part_of_reduction)
            parcels.push_back(
                plain({plan_.partials_.data() + partial_at_[stream.maker]}, partial_bytes(made())));
        else
            parcels.push_back(
                plain(result_of(stream.maker), made().bytes * static_cast<std::size_t>(made().components)));
        PackCall& call = all.packs.one();
        call.channel = stream.channel;
        call.parcels = all.parcels.keep(parcels);
        call.scope = scope;
        stream.channel->make_rooms(bytes_of(parcels));
        pack.go = PackCall::go, pack.what = &call;
        pack.bytes = 2.0 * static_cast<double>(bytes_of(parcels));
    }
    SendCall& send = all.sends.one();
    send.channel = stream.channel;
    send.scope = scope;
    all.program.ops[stream.second].go = SendCall::go;
    all.program.ops[stream.second].what = &send;
    all.sending.push_back(stream.channel);
}

void PlanBuilder::make_receives(Stream& stream) {
    ProgramData& all = program_data(ops(stream.maker).phase);
    const std::uint16_t scope = scope_of(resolved(stream.maker).scope);
    if (stream.what == Stream::What::leavers) return;  // relocations.cpp
    Op& receive = all.program.ops[stream.first];
    ReceiveCall& call = all.receives.one();
    call.channel = stream.channel;
    call.scope = scope;
    receive.go = ReceiveCall::go, receive.what = &call;
    all.listening.emplace_back(stream.channel, scope);
    std::vector<Parcel> parcels;
    const auto made = [&]() -> const LabelInfo& { return label(resolved(stream.maker).completed.label); };
    if (stream.what == Stream::What::values) {
        parcels = parcels_of(stream, false);
    } else if (stream.what == Stream::What::part_of_reduction) {
        parcels.push_back(plain({parts_from_.at({stream.maker, stream.process})}, partial_bytes(made())));
    } else {
        parcels.push_back(
            plain(result_of(stream.maker), made().bytes * static_cast<std::size_t>(made().components)));
        stream.second = ops(stream.maker).first;  // is what puts the result in its place
    }
    UnpackCall& unpack = all.unpacks.one();
    unpack.channel = stream.channel;
    unpack.parcels = all.parcels.keep(parcels);
    unpack.scope = scope;
    stream.channel->make_rooms(bytes_of(parcels));
    all.program.ops[stream.second].go = UnpackCall::go;
    all.program.ops[stream.second].what = &unpack;
    all.program.ops[stream.second].bytes = 2.0 * static_cast<double>(bytes_of(parcels));
}

/// What puts, or has put, into the images of a process's patches here what a task there has made.
std::uint32_t PlanBuilder::image_op(TaskId task, int process) const {
    for (const std::size_t i : tasks_[task].incoming) {
        const Stream& stream = incoming_[i];
        if (stream.process == process)
            return stream.what == Stream::What::leavers ? stream.first : stream.second;
    }
    return kNone;
}

void PlanBuilder::wait_in_messages(int which) {
    for (const Stream& stream : outgoing_) {
        const TaskOps& maker = ops(stream.maker);
        if (maker.phase != which) continue;
        const ScopeId scope = resolved(stream.maker).scope;
        waits_.clear();
        wait_for_op(which, stream.second, scope, 1);
        if (stream.what == Stream::What::part_of_reduction || stream.what == Stream::What::reduced) {
            wait_for_op(which, stream.what == Stream::What::reduced ? maker.first : maker.up, scope, 0);
        } else {
            const TaskOps& made = stream.what == Stream::What::leavers ? ops(maker.leave) : maker;
            for (const NeedKey& key : stream.keys)
                wait_for_op(which,
                            !made.family
                                ? made.first
                                : made.first + static_cast<std::uint32_t>(local(made.family, key.patch)),
                            scope, 0);
        }
        finish_waits(which, stream.first);
        waits_.clear();
        wait_for_op(which, stream.first, scope, 0);
        finish_waits(which, stream.second);
    }
    for (const Stream& stream : incoming_) {
        const TaskOps& maker = ops(stream.maker);
        if (maker.phase != which) continue;
        const ScopeId scope = resolved(stream.maker).scope;
        waits_.clear();
        if (stream.what == Stream::What::leavers)
            wait_for_all(stream.maker, 1);  // who took in those of the round before
        else
            wait_for_op(which, stream.second, scope, 1);
        finish_waits(which, stream.first);
        if (stream.what != Stream::What::values && stream.what != Stream::What::part_of_reduction) continue;
        waits_.clear();
        wait_for_op(which, stream.first, scope, 0);
        if (stream.what == Stream::What::part_of_reduction)
            wait_for_op(which, maker.up != kNone ? maker.up : maker.first, scope, 1);
        else
            wait_for_readers(stream);
        finish_waits(which, stream.second);
    }
}

/// An image is overwritten when all who read it here have done so; and all who read what was copied from it
/// to halos, which are written next: those whom the maker itself would wait for.
void PlanBuilder::wait_for_readers(const Stream& stream) {
    const Position here = position_of(stream.maker, Position::unpack);
    for (const Before& before : resolved(stream.maker).before) {
        if (!before.backward || before.through_use < 0 || ops(before.task).phase != ops(stream.maker).phase)
            continue;
        if (!ops(before.task).family) {
            wait_for_all(before.task, before.lag);
            continue;
        }
        const Use& use = info(before.through_task).uses[static_cast<std::size_t>(before.through_use)];
        const FamilyId family = number_of(graph_, *info(before.through_task).family);
        for (const NeedKey& key : stream.keys)
            for (const int other : reach_.readers(use, key.patch))
                if (is_mine(family, other)) wait_for(before.task, family, other, before.lag);
    }
    for (const NeedKey& key : stream.keys)
        for (const Image::Reader& reader : images_.at({key.storage, key.patch}).readers)
            if (reader.phase == ops(stream.maker).phase)
                wait_for_latest(reader.phase, reader.op, reader.position, here);
}

/// Values are overwritten when they have been packed: those of a patch, or (-1) of all.
void PlanBuilder::wait_for_packing(TaskId task, int patch) {
    const ResolvedTask& of = resolved(task);
    const TaskInfo* body = of.what == ResolvedTask::What::body ? &info(task) : nullptr;
    for (std::size_t u = 0; u < of.uses.size(); ++u) {
        if (!writes(of, body, u)) continue;
        const StorageId number = of.uses[u].storage;
        auto packed = packing_.lower_bound({number, patch});
        for (; packed != packing_.end() && packed->first.first == number; ++packed) {
            if (patch >= 0 && packed->first.second != patch) break;
            for (const std::size_t i : packed->second) {
                const Stream& stream = outgoing_[i];
                if (ops(stream.maker).phase != ops(task).phase) continue;
                const Position pack = position_of(stream.maker, Position::pack);
                int rounds = rounds_since(pack, position_of(task, Position::own));
                if (stream.maker == task && storage(number).scope == of.scope) rounds = storage(number).depth;
                wait_for_op(ops(task).phase, stream.first, pack.scope, rounds);
            }
        }
    }
}

void PlanBuilder::put_messages(TaskId task, bool outgoing, Stream::What what, Block& block) const {
    const TaskOps& of = tasks_[task];
    for (const std::size_t i : outgoing ? of.outgoing : of.incoming) {
        const Stream& stream = (outgoing ? outgoing_ : incoming_)[i];
        if (stream.what != what) continue;
        put(of.phase, stream.first, block);
        if (stream.second != kNone && stream.second != of.first) put(of.phase, stream.second, block);
    }
}

}  // namespace strata::graph::detail
