// Waits of messages with particles in halos, and of those that change who is in them. The resolved graph
// orders tasks on patches; it knows nothing of messages, which are divided as halos are.
#include <algorithm>

#include "core/graph/expand/waits/wait_list.hpp"

namespace strata::graph::detail {

namespace {

bool has_particles(const PlanInputs& in, const NeedKey& key, SetId set) {
    return key.storage && in.label_of(key.storage).particle_set == set;
}

/// Calls each(renewal, its halo) for those in the program of the phase.
template <class Each>
void each_renewal(const WaitList& list, int phase, Each each) {
    for (const TaskId task : list.in.graph.tasks().ids())
        if (const HaloId halo = list.in.graph.tasks()[task].renews;
            halo && list.numbered.tasks[task].phase == phase)
            each(task, *list.in.graph.particle_halos()[halo]);
}

bool is_seen(const ParticleHalo& halo, int patch, int from) {
    const std::vector<int>& sources = halo.sources(patch);
    return std::binary_search(sources.begin(), sources.end(), from);
}

/// Whether values of a patch elsewhere are for a patch here: they come to those that see it, and its
/// contributions to those that it sees.
bool are_for(const PlanInputs& in, const ParticleHalo& halo, int patch, const NeedKey& key) {
    return in.storage(key.storage).contributions ? is_seen(halo, key.patch, patch)
                                                 : is_seen(halo, patch, key.patch);
}

}  // namespace

void wait_for_packed_particles(WaitList& list, TaskId task, SetId set, int patch) {
    const PlanInputs& in = list.in;
    const int phase = list.numbered.tasks[task].phase;
    for (const Stream& stream : list.streams.outgoing) {
        if (stream.what != Stream::What::values || list.numbered.tasks[stream.maker].phase != phase) continue;
        if (std::any_of(stream.keys.begin(), stream.keys.end(), [&](const NeedKey& key) {
                return key.patch == patch && has_particles(in, key, set);
            }))
            list.add_latest(phase, stream.first, position_of(in, stream.maker, Position::pack),
                            position_of(in, task, Position::own));
    }
}

void wait_to_renew(WaitList& list, TaskId task, int patch) {
    const PlanInputs& in = list.in;
    const int phase = list.numbered.tasks[task].phase;
    const ParticleHalo& halo = *in.graph.particle_halos()[in.info(task).renews];
    wait_for_packed_particles(list, task, halo.set(), patch);
    for (const Stream& stream : list.streams.incoming) {
        if (stream.what != Stream::What::values || list.numbered.tasks[stream.maker].phase != phase) continue;
        if (std::any_of(stream.keys.begin(), stream.keys.end(), [&](const NeedKey& key) {
                return has_particles(in, key, halo.set()) && are_for(in, halo, patch, key);
            }))
            list.add_latest(phase, stream.second, position_of(in, stream.maker, Position::unpack),
                            position_of(in, task, Position::own));
    }
}

void wait_for_renewals(WaitList& list, const Stream& stream, bool outgoing) {
    const PlanInputs& in = list.in;
    const int phase = list.numbered.tasks[stream.maker].phase;
    if (!sends_halos_alone(in, list.numbered, stream.maker)) {
        const bool any = std::any_of(stream.keys.begin(), stream.keys.end(), [&](const NeedKey& key) {
            return in.storage(key.storage).contributions && in.label_of(key.storage).particle_set;
        });
        if (!any) return;
    }
    const Position here = position_of(in, stream.maker, outgoing ? Position::pack : Position::unpack);
    each_renewal(list, phase, [&](TaskId renewal, const ParticleHalo& halo) {
        const TaskOps& ops = list.numbered.tasks[renewal];
        for (const NeedKey& key : stream.keys) {
            if (!has_particles(in, key, halo.set())) continue;
            for (const int patch : in.patches(ops.family))
                if (outgoing ? patch == key.patch : are_for(in, halo, patch, key))
                    list.add_latest(phase, ops.op(in.local(ops.family, patch)),
                                    position_of(in, renewal, Position::own), here);
        }
    });
    if (outgoing) return;
    // An image has room for all particles when those that were relocated are in it.
    for (const Stream& other : list.streams.incoming)
        if (other.what == Stream::What::values && other.process == stream.process &&
            other.maker != stream.maker && list.numbered.tasks[other.maker].phase == phase &&
            in.is(other.maker, ResolvedTask::What::relocate))
            list.add_latest(phase, other.second, position_of(in, other.maker, Position::unpack), here);
}

}  // namespace strata::graph::detail
