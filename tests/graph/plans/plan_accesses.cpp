#include "tests/graph/plans/plan_accesses.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/graph/declare/inside_here.hpp"
#include "core/graph/declare/upwind.hpp"
#include "core/graph/expand/halos/sweep.hpp"
#include "tests/graph/plans/call_data.hpp"

namespace strata::tests {

using namespace strata::graph;

namespace {

std::int64_t bytes_of(const LabelInfo& label) { return static_cast<std::int64_t>(label.bytes); }
std::int64_t size_of(const LabelInfo& label) { return bytes_of(label) * label.components; }

}  // namespace

PlanAccesses::PlanAccesses(std::span<Plan* const> plans) {
    for (const Plan* plan : plans)
        for (const Program* program : {&plan->start(), &plan->step()})
            for (const Op& op : program->ops)
                if (op.go == DeliverCall::go)
                    for (const AnswersOnTheWay* each : as<DeliverCall>(op.what).of->answers)
                        answers_shown_[&each->room] = answers_shown_[&each->seen] = each;
}

std::vector<MemoryAccess> PlanAccesses::of(const Op& op, const Moment& when) {
    found_.clear();
    when_ = when;
    if (op.what == nullptr) return {};  // it keeps an order, and has nothing to work on
    if (op.go == TaskCall::go)
        task(as<TaskCall>(op.what));
    else if (op.go == FillCall::go)
        for (const ValueCopy& move : as<FillCall>(op.what).moves()) copy(move);
    else if (op.go == CombineCall::go)
        combine(as<CombineCall>(op.what));
    else if (op.go == ReduceCall::go)
        reduce(as<ReduceCall>(op.what));
    else if (op.go == FetchCall::go) {
        const auto& call = as<FetchCall>(op.what);
        add(Kind::read, at(call.from), static_cast<std::int64_t>(call.bytes));
        add(Kind::write, at(call.to), static_cast<std::int64_t>(call.bytes));
    } else if (!moving(op) && !requests(op))
        throw std::logic_error("plan_accesses.cpp does not know what an operation of this kind touches");
    return std::move(found_);
}

std::vector<MemoryAccess> PlanAccesses::of(const DecideCall& call, const Moment& when) {
    found_.clear();
    when_ = when;
    add(Kind::read, at(call.scalar), 1);
    return std::move(found_);
}

PlanAccesses::Address PlanAccesses::made_up(Part part, const void* of, std::int64_t a, std::int64_t b) {
    constexpr Address kBeyondAll = Address{1} << 62U;
    return made_up_.try_emplace({part, of, a, b}, kBeyondAll + made_up_.size()).first->second;
}

void PlanAccesses::add(Kind kind, const void* at, std::int64_t bytes) {
    const auto lo = reinterpret_cast<Address>(at);
    if (at != nullptr && bytes > 0) found_.push_back({kind, lo, lo + static_cast<Address>(bytes)});
}
void PlanAccesses::add_made_up(Kind kind, Part part, const void* of, std::int64_t a, std::int64_t b) {
    const Address at = made_up(part, of, a, b);
    found_.push_back({kind, at, at + 1});
}

/// `step`: along turned axes, from a value to the next.
void PlanAccesses::add_box(Kind kind, const std::byte* first, const Strides& by, const Int3& extent,
                           int components, std::int64_t bytes, std::int64_t step) {
    for (int c = 0; c < components; ++c)
        for (int k = 0; k < extent[2]; ++k)
            for (int j = 0; j < extent[1]; ++j) {
                const std::byte* row = first + c * by.component + k * by.plane + j * by.row;
                if (step == 0)
                    add(kind, row, extent[0] * bytes);
                else
                    for (int i = 0; i < extent[0]; ++i) add(kind, row + i * step, bytes);
            }
}

std::byte* PlanAccesses::at(const RoundAddress& address) const {
    return address.depth == 1 ? address.base : address.at(round(address.scope));
}

void PlanAccesses::copy(const ValueCopy& kept) {
    CopyShape move = *kept.shape;
    move.from.base = kept.from, move.to.base = kept.to;
    if (move.entries.data() == nullptr) {
        const BoxCopy box = kept.box();
        add_box(Kind::read, at(move.from), box.from_strides, box.extent, box.components, box.bytes,
                box.from_step);
        return add_box(Kind::write, at(move.to), box.to_strides, box.extent, box.components, box.bytes);
    }
    for (int c = 0; c < move.components; ++c) {
        for (const std::int64_t entry : move.entries)
            add(Kind::read, at(move.from) + c * move.from_component + entry * move.bytes, move.bytes);
        add(Kind::write, at(move.to) + c * move.to_component,
            static_cast<std::int64_t>(move.entries.size()) * move.bytes);
    }
}

void PlanAccesses::combine(const CombineCall& call) {
    std::byte* const to = at(call.to);
    if (!call.field) {
        for (int c = 0; c < call.components; ++c)
            add(Kind::write, to + c * call.component * call.bytes, call.count * call.bytes);
        for (const CombineCall::Entries& part : call.lists)
            for (int c = 0; c < call.components; ++c) {
                const std::byte* from = at(part.from) + c * part.from_component * call.bytes;
                if (part.here.data() == nullptr) add(Kind::read, from, call.count * call.bytes);
                for (const std::int64_t there : part.there)
                    add(Kind::read, from + there * call.bytes, call.bytes);
            }
        return;
    }
    const SumRows& rows = *call.rows;
    std::size_t offset = 0, source = 0;
    for (const SumRows::Region& region : rows.regions) {
        const std::int64_t length = region.length * call.bytes;
        for (std::uint32_t row = 0; row < region.rows; ++row, offset += 1 + region.sources) {
            for (std::uint32_t s = 0; s < region.sources; ++s)
                add(Kind::read,
                    at(call.parts[rows.parts[source + s]]) + rows.offsets[offset + 1 + s] * call.bytes,
                    length);
            add(Kind::write, to + rows.offsets[offset] * call.bytes, length);
        }
        source += region.sources;
    }
}

void PlanAccesses::reduce(const ReduceCall& call) {
    const auto partial = static_cast<std::int64_t>(partial_bytes(*call.label));
    for (const Contributions& from : call.contributions)
        for (std::uint32_t i = 0; i < from.count; ++i) add(Kind::read, from.at(i), size_of(*call.label));
    for (const std::byte* each : call.children) add(Kind::read, each, partial);
    if (call.finishes)
        add(Kind::write, at(call.result), size_of(*call.label));
    else
        add(Kind::write, call.mine, partial);
}

void PlanAccesses::task(const TaskCall& call) {
    if (call.more != nullptr) {
        for (const ValueCopy& move : call.more->collects) copy(move);
        for (const Clear& clear : call.more->clears)
            add(Kind::write, clear.at, static_cast<std::int64_t>(clear.bytes));
        for (ObjectMade* const made : call.more->made) add_object(Kind::write, made);
        for (const CallData::MovedOfSet& each : call.more->moves) add_object(Kind::write, each.moved);
        seen_with_halo(*call.more);
    }
    for (const CallShape::ScalarContribution& each : call.shape->scalars)
        add(Kind::write, call.own()[each.own] + each.bytes, size_of(*each.label));
    std::vector<UseData> seen(call.shape->uses.size());
    call.show(seen.data());
    for (std::size_t i = 0; i < seen.size(); ++i) use(call, i, seen[i]);
}

/// A view of the call: a use of the process, or on one of the patches that a task of the team sees.
void PlanAccesses::use(const TaskCall& call, std::size_t number, const UseData& data) {
    static const CallExtras none;
    const CallExtras& more = call.more == nullptr ? none : *call.more;
    const TaskInfo& task = *call.shape->task;
    const std::size_t group = number / task.uses.size();
    const int patch = group == 0 ? call.patch : more.all_own[group - 1].patch;
    const Use& use = task.uses[number % task.uses.size()];
    const LabelInfo& of = task.graph->labels()[use.version.label];
    const Kind kind = use.access == Access::need ? Kind::read : Kind::write;
    for (const CallExtras::ParticleView& each : more.particle_views)
        if (each.use == number) {
            const bool creates = call.shape->populations != nullptr && use.access == Access::make &&
                                 task.graph->particle_sets()[of.particle_set].id_label == use.version.label;
            add_object(creates ? Kind::write : Kind::read, each.patch);
            return column(kind, *each.column, each.patch);
        }
    const auto& addresses = call.shape->addresses;
    const auto by_round = std::find_if(addresses.begin(), addresses.end(), [&](const auto& each) {
        return each.use == number && each.address.depth > 1;
    });
    const std::byte* origin =
        by_round == addresses.end() ? data.origin : at(ValueCopy::with(by_round->address, data.origin));
    if (origin == nullptr) return;  // not of this patch, or seen with a halo
    if (const RequestRole role = request_role(*task.graph, use.version.label); role.is_gate())
        return gate(role, use, origin, patch);
    if (use.relation != nullptr && use.relation->shape() == Shape::particles) return;  // seen_with_halo()
    if (of.halo && of.kind == graph::Kind::list)
        return add_object(kind, reinterpret_cast<const HaloMembers*>(origin));
    if (use.access == Access::need && use.relation != nullptr) return;  // CallExtras::collects
    if (use.is_scattered()) return;                                     // CallExtras::clears
    if (of.kind == graph::Kind::scalar || use.access == Access::contribute)
        return add(kind, origin, size_of(of));
    if (of.kind == graph::Kind::object) return add(kind, origin, 1);
    if (of.kind == graph::Kind::field) return field(data, origin, use, of, patch);
    for (int c = 0; c < of.components; ++c)
        add(kind, origin + c * data.component * bytes_of(of), data.count * bytes_of(of));
}

void PlanAccesses::field(const UseData& data, const std::byte* origin, const Use& use, const LabelInfo& of,
                         int patch) {
    const std::int64_t bytes = bytes_of(of);
    const Strides by{data.y * bytes, data.z * bytes, data.component * bytes};
    const Box own = owned(of, patch);
    const auto box = [&](Kind kind, const Box& seen) {
        const Box it = common(seen, data.box);
        if (it.empty()) return;
        add_box(kind, origin + it.lo[0] * bytes + it.lo[1] * by.row + it.lo[2] * by.plane, by, extent_of(it),
                of.components, bytes);
    };
    if (use.access == Access::need || use.access == Access::modify) {
        if (use.towards == Int3{}) {
            for (const Box& seen :
                 ghosts_of(use, static_cast<const Grid&>(*of.family), patch, of.on, of.border))
                box(Kind::read, seen);
        } else {
            box(Kind::read, own);
            for (const Box& side : upwind_of(own, use.width, use.towards, use.corners)) box(Kind::read, side);
            if (use.access == Access::modify)
                for (const Box& side : downwind_of(own, use.width, use.towards, use.corners))
                    box(Kind::read, side);
        }
    }
    if (use.access != Access::need) box(Kind::write, use.access == Access::sum ? data.box : own);
}

/// In place of a scalar's value: what has come through the gate, or the room for answers.
void PlanAccesses::gate(const RequestRole& role, const Use& use, const std::byte* origin, int patch) {
    if (role.what == RequestRole::delivered)
        return add_object(Kind::read, reinterpret_cast<const DeliveredRequests*>(origin));
    const AnswersOnTheWay& of = *answers_shown_.at(origin);
    if (use.access == Access::need) {
        add_object(Kind::read, &of.seen);
        return answers(Kind::read, of.shared[static_cast<std::size_t>(of.of->rank - of.of->first)],
                       Answers::own);
    }
    add_object(Kind::read, &of.room);
    answers_of(of, patch);
}

}  // namespace strata::tests
