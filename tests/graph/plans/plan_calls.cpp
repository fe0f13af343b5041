// What operations do, as text: a task's places and what is copied to them, halos, sums, reductions, messages,
// relocations.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/graph/declare/inside_here.hpp"
#include "tests/graph/plans/call_data.hpp"
#include "tests/graph/plans/plan_writer.hpp"

namespace strata::tests {

using namespace strata::graph;

namespace {

std::size_t z(std::int64_t number) { return static_cast<std::size_t>(number); }

const char* word(bool yes) { return yes ? "yes" : "no"; }

std::string steps_of(const Strides& by) { return fmt::format("{},{},{}", by.row, by.plane, by.component); }

/// Bytes from a place's origin to the first of its values.
std::int64_t to_first(const UseData& place, const LabelInfo& label) {
    const Int3& lo = place.box.lo;
    return (lo[0] + lo[1] * place.y + lo[2] * place.z) * static_cast<std::int64_t>(label.bytes);
}

}  // namespace

void PlanWriter::add_call(const Op& op, const std::string& name) {
    if (op.what == nullptr)
        text_ += "  does nothing\n";
    else if (op.go == TaskCall::go)
        add_task(as<TaskCall>(op.what), name);
    else if (op.go == FillCall::go)
        for (const ValueCopy& move : as<FillCall>(op.what).moves()) add_move(move);
    else if (op.go == CombineCall::go)
        add_combine(as<CombineCall>(op.what));
    else if (op.go == ReduceCall::go)
        add_reduce(as<ReduceCall>(op.what));
    else if (op.go == FetchCall::go) {
        const auto& call = as<FetchCall>(op.what);
        text_ += "  fetch ";
        add_round_address(call.from);
        text_ += " to ";
        add_round_address(call.to);
        add(" bytes {}\n", call.bytes);
    } else if (op.go == PackCall::go) {
        const auto& call = as<PackCall>(op.what);
        add_channel(call.channel);
        add("  pack scope {}\n", call.scope);
        add_parcels(call.parcels);
    } else if (op.go == UnpackCall::go) {
        const auto& call = as<UnpackCall>(op.what);
        add_channel(call.channel);
        add("  unpack scope {}\n", call.scope);
        add_parcels(call.parcels);
    } else if (op.go == SendCall::go) {
        add_channel(as<SendCall>(op.what).channel);
        add("  send scope {}\n", as<SendCall>(op.what).scope);
    } else if (op.go == ReceiveCall::go) {
        add_channel(as<ReceiveCall>(op.what).channel);
        add("  receive scope {}\n", as<ReceiveCall>(op.what).scope);
    } else if (op.go == LeaveCall::go)
        add_leave(as<LeaveCall>(op.what), name);
    else if (op.go == GatherCall::go)
        add_gather(as<GatherCall>(op.what), name);
    else if (op.go == ArriveCall::go)
        add_arrive(as<ArriveCall>(op.what));
    else if (op.go == PackLeaversCall::go)
        add_pack_leavers(as<PackLeaversCall>(op.what));
    else if (op.go == ReceiveLeaversCall::go)
        add_receive_leavers(as<ReceiveLeaversCall>(op.what), name);
    else if (!add_moving(op, name))
        throw std::logic_error("plan_calls.cpp has no text for what an operation of this kind does");
}

void PlanWriter::add_task(const TaskCall& call, const std::string& name) {
    const CallShape& shape = *call.shape;
    static const CallExtras none;
    const CallExtras& more = call.more == nullptr ? none : *call.more;
    const auto family = [&](const Family* of) {
        return of == nullptr ? -1 : number_of(plan_.graph(), *of).number();
    };
    add("  task '{}' family {} patch {} scope {} most {} counts steps {} timed {} creates {}\n",
        shape.task->name, family(shape.family), call.patch, shape.scope, shape.most,
        word(shape.steps_before != nullptr), word(shape.measured != nullptr),
        word(shape.populations != nullptr));
    add("  knows itself {} may create {} rounds from ", word(shape.family != nullptr),
        word(shape.family != nullptr));
    add_address(shape.round_base);
    add(" sees places 0 + {}\n", shape.task->uses.size());
    std::vector<UseData> places(shape.uses.size());
    call.show(places.data());
    for (std::size_t i = 0; i < places.size(); ++i) add_place(call, i, places[i], name);
    for (const CallExtras::ParticleView& each : more.particle_views) {
        add("  place {} particles ", each.use);
        add_address(each.column);
        text_ += " of ";
        add_address(each.patch);
        text_ += '\n';
    }
    for (const ValueCopy& move : more.collects) add_move(move);
    for (const Clear& clear : more.clears) {
        if (clear.bytes == 0) continue;
        text_ += "  clear ";
        add_address(clear.at);
        add(" bytes {}\n", clear.bytes);
    }
    for (std::size_t i = 0; i < shape.scalars.size(); ++i) {
        const CallShape::ScalarContribution& each = shape.scalars[i];
        const std::byte* const at = call.own()[each.own] + each.bytes;
        add_region(at, z(each.label->components) * each.label->bytes, Whose::own,
                   fmt::format("contribution {} of {}", i, name));
        add("  neutral of '{}' at ", each.label->name);
        add_address(at);
        text_ += '\n';
    }
    for (const CallData::MovedOfSet& each : more.moves) {
        add("  names who moved of set {} in ", each.set.number());
        add_address(each.moved);
        text_ += '\n';
    }
    for (const Here& each : more.all_own) {
        const CallData& own = InsideHere::of(each);
        add("  sees '{}' patch {} family {} places {} + {}\n", own.task->name, each.patch, family(own.family),
            own.use_data.data() - more.room.data(), own.use_data.size());
    }
    for (const CallData::Own& own : more.owns)
        add("  owns of family {} patches {} + {}\n", family(own.family),
            own.patches.data() - more.all_own.data(), own.patches.size());
}

/// Named by its first value: the origin of a patch's indices lies anywhere.
void PlanWriter::add_place(const TaskCall& call, std::size_t number, const UseData& place,
                           const std::string& name) {
    const TaskInfo& task = *call.shape->task;
    const std::size_t u = number % task.uses.size();
    const Use& use = task.uses[u];
    const LabelInfo& of = label(use.version.label);
    const auto& addresses = call.shape->addresses;
    const auto by_round = std::find_if(addresses.begin(), addresses.end(), [&](const auto& each) {
        return each.use == number && each.address.depth > 1;
    });
    const bool collected = use.access == Access::need && use.relation != nullptr;
    const bool whole = collected && use.relation->shape() == Shape::whole;  // then it has parts, and no box
    const std::int64_t shift = place.origin == nullptr || whole ? 0 : to_first(place, of);
    if (collected && place.origin != nullptr) {
        const std::int64_t values = place.component * of.components;
        add_region(place.origin + shift, z(values) * of.bytes, Whose::own,
                   fmt::format("window {} of {}", number, name));
    }
    add("  place {} '{}' ", number, of.name);
    if (of.kind == Kind::list && place.count == 0)
        text_ += "nothing";
    else if (by_round != addresses.end())
        add_round_address(ValueCopy::with(by_round->address, place.origin), shift);
    else
        add_address(place.origin == nullptr ? nullptr : place.origin + shift);
    add(" box {} steps {} {} {} count {}\n", whole ? "none" : text_of(place.box), place.y, place.z,
        place.component, place.count);
}

void PlanWriter::add_move(const ValueCopy& copy) {
    const CopyShape& move = *copy.shape;
    text_ += "  copy ";
    add_round_address(ValueCopy::with(move.from, copy.from));
    text_ += " to ";
    add_round_address(ValueCopy::with(move.to, copy.to));
    if (move.entries.data() == nullptr) {
        const BoxCopy box = copy.box();
        add(" box {} from steps {} to steps {} components {} x {}", text_of(box.extent),
            steps_of(box.from_strides), steps_of(box.to_strides), box.components, box.bytes);
        if (box.from_step != 0) add(" turned, step {}", box.from_step);
        text_ += '\n';
        return;
    }
    add(" components {} x {} steps {} to {} entries", move.components, move.bytes, move.from_component,
        move.to_component);
    add_list(move.entries);
    text_ += '\n';
}

void PlanWriter::add_combine(const CombineCall& call) {
    if (!call.field && call.count == 0) {
        text_ += "  combines nothing\n";
        return;
    }
    text_ += "  combine to ";
    add_round_address(call.to);
    add(" components {} x {} element {}\n", call.components, call.bytes, static_cast<int>(call.element));
    if (call.field) return add_rows(call);
    add("  values {} component {}\n", call.count, call.component);
    for (const CombineCall::Entries& part : call.lists) {
        text_ += "  part ";
        add_round_address(part.from);
        add(" component {}", part.from_component);
        if (part.here.data() == nullptr) text_ += " all";
        add_list(part.here);
        add_list(part.there);
        text_ += '\n';
    }
}

/// A part is named by the first of its values that are added: where the result's first value would lie in it
/// may be outside of it.
void PlanWriter::add_rows(const CombineCall& call) {
    const SumRows& rows = *call.rows;
    constexpr auto kUntouched = std::numeric_limits<std::int32_t>::max();
    std::size_t parts = call.parts.size();
    for (const std::uint32_t part : rows.parts) parts = std::max<std::size_t>(parts, part + 1);  // of a fault
    std::vector<std::int32_t> first(parts, kUntouched);
    std::size_t place = 0, source = 0;
    for (const SumRows::Region& region : rows.regions) {
        for (std::uint32_t row = 0; row < region.rows; ++row, place += 1 + region.sources)
            for (std::uint32_t s = 0; s < region.sources; ++s) {
                std::int32_t& least = first[rows.parts[source + s]];
                least = std::min(least, rows.offsets[place + 1 + s]);
            }
        source += region.sources;
    }
    add("  adds {}\n", call.add == add_regions(call.element) ? "as the element says" : "otherwise");
    for (std::size_t p = 0; p < call.parts.size(); ++p) {
        if (first[p] == kUntouched) {
            text_ += "  part untouched\n";
            continue;
        }
        text_ += "  part ";
        add_round_address(call.parts[p], first[p] * call.bytes);
        add(" value {}\n", first[p]);
    }
    place = source = 0;
    for (const SumRows::Region& region : rows.regions) {
        const std::size_t numbers = std::size_t{region.rows} * (1 + region.sources);
        add("  rows {} of {} parts", region.rows, region.length);
        add_list(std::span(rows.parts).subspan(source, region.sources));
        text_ += " places";
        add_list(std::span(rows.offsets).subspan(place, numbers));
        text_ += '\n';
        place += numbers, source += region.sources;
    }
}

void PlanWriter::add_reduce(const ReduceCall& call) {
    if (!call.finishes)
        add_region(call.mine, partial_bytes(*call.label), Whose::node,
                   fmt::format("partial of '{}' on its way", call.label->name));
    add("  reduce '{}' finishes {} in ", call.label->name, word(call.finishes));
    add_address(call.mine);
    text_ += " to ";
    add_round_address(call.result);
    text_ += '\n';
    for (const Contributions& from : call.contributions)
        for (std::uint32_t i = 0; i < from.count; ++i) {
            text_ += "  contribution ";
            add_address(from.at(i));
            text_ += '\n';
        }
    for (const std::byte* each : call.children) {
        text_ += "  child ";
        add_address(each);
        text_ += '\n';
    }
}

void PlanWriter::add_channel(const Channel* channel) {
    text_ += "  channel ";
    add_address(channel);
    if (channel != nullptr) {
        add(" peer {} tag {}", channel->peer(), channel->tag());
        if (channel->has_fixed_length())
            add(" bytes {}", const_cast<Channel*>(channel)->room(0).size());
        else
            text_ += " any length";
    }
    text_ += '\n';
}

void PlanWriter::add_parcels(std::span<const Parcel> parcels) {
    for (const Parcel& parcel : parcels) {
        text_ += "  parcel ";
        add_round_address(parcel.values);
        const BoxCopy& box = parcel.box;
        if (parcel.list) {
            add(" components {} x {} steps {} entries", box.components, box.bytes, parcel.component);
            add_list(parcel.entries);
        } else
            add(" box {} from steps {} to steps {} components {} x {}", text_of(box.extent),
                steps_of(box.from_strides), steps_of(box.to_strides), box.components, box.bytes);
        text_ += '\n';
    }
}

void PlanWriter::add_column(const ParticleColumn& column) {
    add(" set {} moves {} components {} x {} pad {} before {} padded {}", column.set.number(),
        word(column.moves), column.components, column.bytes, column.pad, column.before, column.padded);
}

/// Described once, and named wherever it is used.
void PlanWriter::add_relocation(const SetRelocation* of) {
    text_ += "  relocation ";
    add_address(of);
    text_ += '\n';
    if (!described_.insert(of).second) return;
    add("  of '{}' by '{}' directions {} hops {} scope {} told {} counts steps {} own particles {}\n",
        of->set->name, of->position_label->name, of->cells.directions, of->hops, of->scope,
        word(of->movers_named), word(of->steps_before != nullptr),
        word(of->all == &plan_.memory().populations()));
    const auto line = [&](const char* what, const ParticleColumn& column) {
        add("  {}", what);
        add_column(column);
        text_ += '\n';
    };
    line("position", of->position);
    line("id", of->id);
    for (const ParticleColumn& column : of->moved) line("moves", column);
}

void PlanWriter::add_leave(const LeaveCall& call, const std::string& name) {
    add_object(&call, 1, Whose::own, name);
    add_object(call.leavers, 2, Whose::node, "told by " + name);
    add_relocation(call.of);
    add("  leaves patch {} cells {} particles ", call.patch, text_of(call.box));
    add_address(call.here);
    text_ += " tells ";
    add_address(call.leavers);
    text_ += " asks ";
    add_address(call.moved);
    text_ += call.reach.empty() ? " everywhere\n" : "\n";
    for (const Nearby& each : call.reach) add("  reach {} shift {}\n", each.patch, text_of(each.shift));
}

void PlanWriter::add_gather(const GatherCall& call, const std::string& name) {
    add_object(call.leavers, 2, Whose::node, "told by " + name);
    add_relocation(call.of);
    text_ += "  gathers in ";
    add_address(call.leavers);
    text_ += '\n';
    for (const PatchLeavers* each : call.patches) {
        text_ += "  from ";
        add_address(each);
        text_ += '\n';
    }
}

void PlanWriter::add_arrive(const ArriveCall& call) {
    add_relocation(call.of);
    text_ += "  arrives after ";
    add_address(call.own);
    text_ += '\n';
    for (const PatchLeavers* each : call.from) {
        text_ += "  from ";
        add_address(each);
        text_ += '\n';
    }
    for (const ProcessLeavers* each : call.all) {
        text_ += "  from process ";
        add_address(each);
        text_ += '\n';
    }
}

void PlanWriter::add_pack_leavers(const PackLeaversCall& call) {
    add_relocation(call.of);
    add_channel(call.channel);
    const auto& owners = plan_.assignment().owner[number_of(plan_.graph(), *call.of->set->grid)];
    add("  packs leavers for {} owners {}\n", call.process,
        call.owner.data() == owners.data() && call.owner.size() == owners.size() ? "of the plan" : "others");
    for (const PatchLeavers* each : call.patches) {
        text_ += "  from ";
        add_address(each);
        text_ += '\n';
    }
}

void PlanWriter::add_receive_leavers(const ReceiveLeaversCall& call, const std::string& name) {
    add_object(call.shown, 2, Whose::own, "shown by " + name);
    add_relocation(call.of);
    add_channel(call.channel);
}

void PlanWriter::add_decision(const Decision& decision) {
    if (decision.more == nullptr) return;
    if (decision.more != DecideCall::more) {
        text_ += "  decides otherwise\n";
        return;
    }
    const auto& call = as<DecideCall>(decision.what);
    text_ += "  decides by";
    for (const Scope& scope : plan_.graph().scopes())
        if (call.test == &scope.decision()) add(" '{}'", scope.name());
    text_ += " on ";
    add_round_address(call.scalar);
    add(" goes on if {} rounds from ", word(call.more_if));
    add_address(call.round_base);
    text_ += '\n';
}

}  // namespace strata::tests
