// Operations on what changes its place or size while a plan runs: particles and their halos, messages,
// requests.
#include "core/graph/declare/halo_view.hpp"
#include "core/graph/declare/inside_here.hpp"
#include "tests/graph/plans/call_data.hpp"
#include "tests/graph/plans/plan_accesses.hpp"

namespace strata::tests {

using namespace strata::graph;

namespace {

/// Arrays of labels that move, and of the others. A relocation writes the former: it gives those in which
/// particles were to other patches.
constexpr std::int64_t kMoving = 0, kScratch = -1;

}  // namespace

bool PlanAccesses::moving(const Op& op) {
    if (op.go == HaloRenewal::go)
        renew(as<HaloRenewal>(op.what));
    else if (op.go == HaloCombineCall::go)
        combine(as<HaloCombineCall>(op.what));
    else if (op.go == LeaveCall::go)
        leave(as<LeaveCall>(op.what));
    else if (op.go == ArriveCall::go)
        arrive(as<ArriveCall>(op.what));
    else if (op.go == GatherCall::go) {
        const auto& call = as<GatherCall>(op.what);
        const Epoch buffer = round(call.of->scope) & 1U;
        auto& all = gathered_[call.leavers + buffer];
        all.clear();
        for (const PatchLeavers* each : call.patches) all.push_back(each + buffer);
        for (const PatchLeavers* each : all) add_object(Kind::read, each);
        add_object(Kind::write, call.leavers + buffer);
    } else if (op.go == PackLeaversCall::go) {
        const auto& call = as<PackLeaversCall>(op.what);
        for (const PatchLeavers* each : call.patches) shown(each + (round(call.of->scope) & 1U));
        room(Kind::write, call.channel, round(call.of->scope));
    } else if (op.go == ReceiveLeaversCall::go) {
        const auto& call = as<ReceiveLeaversCall>(op.what);
        const Epoch now = round(call.of->scope);
        received(call.channel, call.of->scope);
        add_object(Kind::write, call.shown + (now & 1U));
        from_[call.shown + (now & 1U)] = {call.channel, now};
    } else if (op.go == PackCall::go) {
        const auto& call = as<PackCall>(op.what);
        parcels(call.parcels, call.particles, Kind::read);
        room(Kind::write, call.channel, round(call.scope));
    } else if (op.go == UnpackCall::go) {
        const auto& call = as<UnpackCall>(op.what);
        parcels(call.parcels, call.particles, Kind::write);
        room(Kind::read, call.channel, round(call.scope));
    } else if (op.go == SendCall::go)
        sent(as<SendCall>(op.what).channel);
    else if (op.go == ReceiveCall::go)
        received(as<ReceiveCall>(op.what).channel, as<ReceiveCall>(op.what).scope);
    else
        return false;
    return true;
}

void PlanAccesses::column(Kind kind, const ParticleColumn& of, const ParticlePatch* patch) {
    add_made_up(kind, Part::column, patch, of.before, of.moves ? kMoving : kScratch);
}
void PlanAccesses::columns(Kind kind, const SetRelocation& of, const ParticlePatch* patch) {
    for (const ParticleColumn& each : of.moved) column(kind, each, patch);
}

/// Lists of values of a patch's particles and of those around it.
void PlanAccesses::seen_with_halo(const CallExtras& call) {
    for (const HaloRead& each : call.halo_reads) {
        add_object(Kind::read, each.halo);
        add_object(Kind::read, each.here);
        column(Kind::read, *each.column, each.here);
        for (const HaloSource& link : each.links) {
            add_object(Kind::read, link.patch);
            column(Kind::read, *each.column, link.patch);
        }
        add_object(Kind::write, each.list);
    }
    for (const HaloSum& each : call.halo_sums) {
        add_object(Kind::read, each.halo);
        add_object(Kind::write, each.list);
    }
}

void PlanAccesses::renew(const HaloRenewal& call) {
    add_object(Kind::read, call.here);
    column(Kind::read, call.position, call.here);
    for (const HaloSource& link : call.links) {
        add_object(Kind::read, link.patch);
        column(Kind::read, call.position, link.patch);
        if (call.by_number) column(Kind::read, call.number, link.patch);
    }
    if (call.by_number) column(Kind::read, call.number, call.here);
    column(Kind::write, call.renewed, call.here);
    add_object(Kind::write, call.halo);
    add_object(Kind::write, call.given);
    add_object(Kind::write, call.members);
    add(Kind::write, call.count, sizeof(std::int64_t));
}

void PlanAccesses::combine(const HaloCombineCall& call) {
    add_object(Kind::read, call.here);
    for (const HaloCombineCall::Part& part : call.parts) {
        add_object(Kind::read, part.list);
        add_object(Kind::read, part.to.of);
        add_object(Kind::read, part.begin);
    }
    column(Kind::write, call.column, call.here);
}

/// Positions are taken back across periodic borders. Leavers are copied to arrays of the list's own.
void PlanAccesses::leave(const LeaveCall& call) {
    PatchLeavers* const leavers = call.leavers + (round(call.of->scope) & 1U);
    add_object(Kind::read, call.here);
    columns(Kind::read, *call.of, call.here);
    column(Kind::write, call.of->position, call.here);
    if (call.moved != nullptr) add_object(Kind::write, call.moved);
    add_object(Kind::write, leavers);
    add_object(Kind::write, &call);
}

/// What a patch or process shows; of a process of another node it lies in the message.
void PlanAccesses::shown(const PatchLeavers* leavers) {
    add_object(Kind::read, leavers);
    const auto from = from_.find(leavers);
    if (from != from_.end()) room(Kind::read, from->second.channel, from->second.round);
}

void PlanAccesses::arrive(const ArriveCall& call) {
    const Epoch buffer = round(call.of->scope) & 1U;
    const ParticlePatch* const here = call.own->here;
    add_object(Kind::read, call.own);
    for (const PatchLeavers* each : call.from) shown(each + buffer);
    for (const ProcessLeavers* each : call.all) {
        add_object(Kind::read, each + buffer);
        for (const PatchLeavers* of_patch : gathered_[each + buffer]) shown(of_patch);
    }
    add_object(Kind::write, here);
    columns(Kind::write, *call.of, here);
}

void PlanAccesses::room(Kind kind, const Channel* channel, Epoch of) {
    add_made_up(kind, Part::room, channel, of & 1U, 0);
}
/// The message before is under way until this one is sent.
void PlanAccesses::sent(const Channel* channel) {
    for (const Epoch each : {0U, 1U}) room(Kind::read, channel, each);
}
/// Of a message whose length is known the next one is expected at once: it may come at any time.
void PlanAccesses::received(const Channel* channel, std::uint16_t scope) {
    room(Kind::write, channel, round(scope));
    if (channel->has_fixed_length()) room(Kind::write, channel, round(scope) + 1);
}

/// `kind`: read where they are packed, write where they are unpacked.
void PlanAccesses::parcels(std::span<const Parcel> values, std::span<const ParticleParcel> particles,
                           Kind kind) {
    for (const Parcel& each : values) {
        std::byte* const first = at(each.values);
        const Strides& by = kind == Kind::read ? each.box.from_strides : each.box.to_strides;
        if (!each.list) {
            add_box(kind, first, by, each.box.extent, each.box.components, each.box.bytes);
            continue;
        }
        for (int c = 0; c < each.box.components; ++c)
            for (const std::int64_t entry : each.entries)
                add(kind, first + c * each.component + entry * each.box.bytes, each.box.bytes);
    }
    for (const ParticleParcel& each : particles) {
        for (const HaloPlaces& places : each.places) add_object(Kind::read, places.of);
        if (each.what == ParticleParcel::What::back) {
            add_object(kind, each.list);
            if (each.begins != nullptr) add_object(kind, each.begins, each.places.size());
            continue;
        }
        const bool shows = kind == Kind::write && each.what == ParticleParcel::What::all;
        add_object(shows ? Kind::join : Kind::read, each.patch);
        column(kind, each.column, each.patch);
    }
}

void PlanAccesses::answers(Kind kind, const SharedAnswers* of, Answers which) {
    if (which == Answers::elsewhere) add_object(kind, of);
    for (const auto& [key, address] : made_up_)
        if (const auto& [part, whose, patch, kept] = key;
            part == Part::answers && whose == of && kept == static_cast<std::int64_t>(which))
            found_.push_back({kind, address, address + 1});
}
/// What one patch answers: to patches of all processes of the node, and to other nodes.
void PlanAccesses::answers_of(const AnswersOnTheWay& of, int patch) {
    for (const SharedAnswers* each : of.shared) add_made_up(Kind::write, Part::answers, each, patch, 0);
    add_made_up(Kind::write, Part::answers, of.shared[static_cast<std::size_t>(of.of->rank - of.of->first)],
                patch, 1);
}

/// Of a table each node and each process is told the places of its own requests by another operation.
bool PlanAccesses::requests(const Op& op) {
    if (op.go == PostCall::go) {
        const RequestsOnTheWay& of = *as<PostCall>(op.what).of;
        const int most = of.set->most();
        for (const RequestsOnTheWay::Asker& each : of.askers) {
            add_object(Kind::read, each.to, 2 * static_cast<std::size_t>(most));
            add_object(Kind::read, each.count);
            add(Kind::read, each.questions, most * static_cast<std::int64_t>(of.set->question_bytes()));
        }
        add_object(Kind::write, &of.own());
    } else if (op.go == PackRequestsCall::go) {
        const auto& call = as<PackRequestsCall>(op.what);
        for (const std::span<PostedTable>& each : call.of->tables) {
            add_object(Kind::read, &each.front());
            add_made_up(Kind::write, Part::asked, &each.front(), call.node->first, 0);
        }
        add_object(Kind::write, call.node);
        room(Kind::write, call.node->asks, round(call.scope));
    } else if (op.go == ArrivedCall::go) {
        const auto& call = as<ArrivedCall>(op.what);
        for (const OtherNode& node : call.of->others) {
            if (node.is_asked == nullptr) continue;
            room(Kind::read, node.is_asked, round(call.scope));
            add_object(Kind::write, node.received);
            add_object(Kind::write, &node);
        }
    } else if (op.go == DeliverCall::go) {
        const RequestsOnTheWay& of = *as<DeliverCall>(op.what).of;
        for (const std::span<PostedTable>& of_process : of.tables)
            for (const PostedTable& table : of_process) {
                add_object(Kind::read, &table);
                if (&table != &of_process.front())
                    add_made_up(Kind::write, Part::delivered, &table, of.rank, 0);
            }
        add_object(Kind::write, &of.seen);
        for (const AnswersOnTheWay* each : of.answers) {
            add_object(Kind::write, each->shared[static_cast<std::size_t>(of.rank - of.first)]);
            add_object(Kind::write, &each->room);
            for (std::size_t patch = 0; patch < of.owner.size(); ++patch)
                if (of.owner[patch] == of.rank) answers_of(*each, static_cast<int>(patch));
        }
    } else if (op.go == PackAnswersCall::go) {
        const auto& call = as<PackAnswersCall>(op.what);
        const OtherNode& node = call.of->of->others[call.node];
        add_object(Kind::read, &node);
        for (int process = call.of->of->first; process < call.of->of->last; ++process) {
            answers(Kind::read, call.of->shared[static_cast<std::size_t>(process - call.of->of->first)],
                    Answers::elsewhere);
            add_made_up(Kind::read, Part::delivered, node.received, process, 0);
        }
        room(Kind::write, call.of->sends[call.node], round(call.scope));
    } else if (op.go == AnswersMessageCall::go) {
        const auto& call = as<AnswersMessageCall>(op.what);
        AnswersOnTheWay& of = *call.of;
        add_object(Kind::read, &of.of->others[call.node]);
        if (call.sends) {
            sent(of.sends[call.node]);
        } else {
            received(of.receives[call.node], call.scope);
            add_object(Kind::write,
                       of.shared[static_cast<std::size_t>(of.of->rank - of.of->first)] + 1 + call.number);
        }
    } else if (op.go == ReturnCall::go) {
        const AnswersOnTheWay& of = *as<ReturnCall>(op.what).of;
        const RequestsOnTheWay& asked = *of.of;
        add_object(Kind::read, &asked.own());
        for (std::size_t node = 0; node < of.asker_of.size(); ++node) {
            const int asker = of.asker_of[node];
            if (!(node == static_cast<std::size_t>(of.node_of[static_cast<std::size_t>(asked.rank)]))) {
                add_object(Kind::read, of.shared[static_cast<std::size_t>(asker - asked.first)] + 1 + node);
            }
        }
        for (const OtherNode& node : asked.others)
            add_made_up(Kind::read, Part::asked, &asked.own(), node.first, 0);
        add_made_up(Kind::write, Part::answers, of.shared[static_cast<std::size_t>(asked.rank - asked.first)],
                    -1, 0);
    } else {
        return false;
    }
    return true;
}

}  // namespace strata::tests
