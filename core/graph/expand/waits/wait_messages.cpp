// Waits of the operations of messages, and of writers for packing.
#include <algorithm>

#include "core/graph/expand/waits/wait_list.hpp"

namespace strata::graph::detail {

namespace {

using What = Stream::What;

/// Packing waits for the values, and until the buffer's message of the round before was handed over.
void wait_to_pack(WaitList& list, const Stream& stream) {
    const PlanInputs& in = list.in;
    const TaskOps& maker = list.numbered.tasks[stream.maker];
    const ScopeId scope = in.task(stream.maker).scope;
    list.add_op(maker.phase, stream.second, scope, 1);
    if (stream.what == What::part_of_reduction || stream.what == What::reduced)
        return list.add_op(maker.phase, stream.what == What::reduced ? maker.first : maker.up, scope, 0);
    const TaskOps& made = stream.what == What::leavers ? list.numbered.tasks[maker.leave] : maker;
    if (stream.what == What::values) wait_for_renewals(list, stream, true);
    for (const NeedKey& key : stream.keys)
        list.add_op(maker.phase, !made.family ? made.first : made.op(in.local(made.family, key.patch)), scope,
                    0);
}

/// Those that read in place what was copied from the image: the maker's own waits for them may be left out as
/// implied by others of tasks on its node, which wait for nobody here.
void wait_for_readers_of_halos(WaitList& list, const NeedKey& key, int phase, const Position& here) {
    const PlanInputs& in = list.in;
    const auto add = [&](TaskId reader, std::uint32_t op) {
        if (reader == key.maker)  // in its own order: of this round it reads what comes now
            list.add_op(phase, op, here.scope, 1);
        else
            list.add_latest(phase, op, position_of(in, reader, Position::own), here);
    };
    for (const FillGroup& group : list.numbered.groups) {
        if (group.key.storage != key.storage || list.numbered.tasks[group.key.maker].phase != phase) continue;
        const Division& division = *in.memory.layout(key.storage).division;
        for (std::size_t at = 0; at < division.patches.size(); ++at) {
            const auto fills = group.fills.patch(at);
            if (std::none_of(fills.begin(), fills.end(),
                             [&](std::uint32_t fill) { return group.fills.all[fill].from == key.patch; }))
                continue;
            const int local = in.local(in.family_of(key.storage), division.patches[at]);
            for (const HaloReader& reader : group.readers)
                if (const TaskOps& ops = list.numbered.tasks[reader.task->id]; !ops.family)
                    add(reader.task->id, ops.first);
                else if (const std::uint32_t op = ops.op(local); op != kNone)
                    add(reader.task->id, op);
        }
    }
}

/// An image is overwritten when all readers here have read it. So have all readers of the halos that were
/// copied from it, as these are written next: the maker itself would wait for those.
void wait_for_readers(WaitList& list, const Stream& stream, const Needs& needs, const Arrays& arrays,
                      Reach& reach) {
    const PlanInputs& in = list.in;
    const int phase = list.numbered.tasks[stream.maker].phase;
    const Position here = position_of(in, stream.maker, Position::unpack);
    for (const Before& before : in.task(stream.maker).before) {
        const TaskOps& reader = list.numbered.tasks[before.task];
        if (!before.backward || before.through_use < 0 || reader.phase != phase) continue;
        if (!reader.family) {
            list.add_all(before.task, before.lag);
            continue;
        }
        const Use& use = in.use(before.through_task, before.through_use);
        const FamilyId family = number_of(in.graph, Reach::reading_family(use, in.info(before.through_task)));
        for (const NeedKey& key : stream.keys)
            for (const int other : reach.readers(use, key.patch))
                if (in.is_mine(family, other)) list.add_patch(before.task, family, other, before.lag);
    }
    for (const NeedKey& key : stream.keys) {
        for (const Reader& reader : arrays.readers(needs.images.at({key.storage, key.patch})))
            if (reader.phase == phase) list.add_latest(phase, reader.op, reader.position, here);
        wait_for_readers_of_halos(list, key, phase, here);
        // Messages of two makers may come in any order.
        for (const std::size_t i : list.streams.unpacking.at({key.storage, key.patch}))
            if (const Stream& other = list.streams.incoming[i];
                other.maker != stream.maker && list.numbered.tasks[other.maker].phase == phase)
                list.add_latest(phase, other.second, position_of(in, other.maker, Position::unpack), here);
    }
}

}  // namespace

void make_waits_of_messages(WaitList& list, const Needs& needs, const Arrays& arrays, Reach& reach,
                            int phase) {
    for (const Stream& stream : list.streams.outgoing) {
        if (list.numbered.tasks[stream.maker].phase != phase) continue;
        if (stream.what == What::gate) {
            make_waits_of_gate_message(list, stream, true);
            continue;
        }
        wait_to_pack(list, stream);
        list.give_to(phase, stream.first);
        list.add_op(phase, stream.first, list.in.task(stream.maker).scope, 0);
        list.give_to(phase, stream.second);
    }
    for (const Stream& stream : list.streams.incoming) {
        const TaskOps& maker = list.numbered.tasks[stream.maker];
        if (maker.phase != phase) continue;
        if (stream.what == What::gate) {
            make_waits_of_gate_message(list, stream, false);
            continue;
        }
        const ScopeId scope = list.in.task(stream.maker).scope;
        if (stream.what == What::leavers)
            list.add_all(stream.maker, 1);  // they took in those of the round before
        else
            list.add_op(phase, stream.second, scope, 1);
        list.give_to(phase, stream.first);
        if (stream.what != What::values && stream.what != What::part_of_reduction) continue;
        list.add_op(phase, stream.first, scope, 0);
        if (stream.what == What::part_of_reduction)
            list.add_op(phase, maker.up != kNone ? maker.up : maker.first, scope, 1);
        else {
            wait_for_readers(list, stream, needs, arrays, reach);
            wait_for_renewals(list, stream, false);
        }
        list.give_to(phase, stream.second);
    }
}

void wait_for_packing(WaitList& list, TaskId task, int patch) {
    const PlanInputs& in = list.in;
    const ResolvedTask& of = in.task(task);
    const int phase = list.numbered.tasks[task].phase;
    const auto& packing = list.streams.packing;
    for (std::size_t u = 0; u < of.uses.size() && !packing.empty(); ++u) {
        if (!writes(in, task, u)) continue;
        const StorageId number = of.uses[u].storage;
        for (auto packed = packing.lower_bound({number, patch});
             packed != packing.end() && packed->first.first == number; ++packed) {
            if (patch >= 0 && packed->first.second != patch) break;
            for (const std::size_t i : packed->second) {
                const Stream& stream = list.streams.outgoing[i];
                if (list.numbered.tasks[stream.maker].phase != phase) continue;
                const Position pack = position_of(in, stream.maker, Position::pack);
                int rounds = rounds_since(in, pack, position_of(in, task, Position::own));
                if (stream.maker == task && in.storage(number).scope == of.scope)
                    rounds = in.storage(number).depth;
                list.add_op(phase, stream.first, pack.scope, rounds);
            }
        }
    }
}

}  // namespace strata::graph::detail
