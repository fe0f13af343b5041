#include "core/graph/expand/stages/task_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/error.hpp"

namespace strata::graph::detail {

namespace {

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::size_t all_bytes(const LabelInfo& of) { return of.bytes * static_cast<std::size_t>(of.components); }

void check_entries(const Relation& relation, const LabelInfo& of, const Piece& piece,
                   const PatchArray& source) {
    for (const std::int32_t entry : piece.entries)
        if (entry >= source.count)
            throw Error(fmt::format("relation '{}' takes a value of '{}' on patch {} that is not there",
                                    relation.name(), of.name, piece.from))
                .given(fmt::format("entry {}", entry))
                .allowed(fmt::format("0 to {}", source.count - 1));
}

}  // namespace

TaskViews::TaskViews(const PlanInputs& in, const Numbered& numbered, Arrays& arrays, ProgramData& all,
                     TaskId task, ContributionSlots& slots)
    : in_(in), numbered_(numbered), arrays_(arrays), all_(all), task_(task), slots_(slots) {
    for (const Use& use : declared_.uses)
        if (use.access == Access::contribute && all_bytes(in.label(use.version.label)) % 16 == 0) unit_ = 16;
    for (const Use& use : declared_.uses)
        if (use.access == Access::contribute)
            contributed_ += rounded(all_bytes(in.label(use.version.label)), unit_);
}

void TaskViews::begin(std::uint32_t op) {
    contributions_ = CallShape::kAbsolute, next_ = 0;
    uses.clear(), in_block.clear(), addresses.clear(), scalars.clear(), boxed.clear(), own.clear(),
        boxes.clear();
    collects.clear(), clears.clear(), particle_views.clear(), halo_reads.clear(), halo_sums.clear();
    reader_.op = op;
}

void TaskViews::look_from(int local, int patch, bool boxes_apart) {
    local_ = local, patch_ = patch, boxes_apart_ = boxes_apart;
}

void TaskViews::add(const UseData& data, RoundAddress at, Whose whose) {
    if (whose == shared) return add_at(data, at, CallShape::kAbsolute);
    own.push_back(std::exchange(at.base, nullptr));
    add_at(data, at, static_cast<std::uint32_t>(own.size() - 1));
}

void TaskViews::add_at(const UseData& data, const RoundAddress& at, std::uint32_t own_number) {
    const bool absolute = own_number == CallShape::kAbsolute;
    if (at.depth > 1 || !absolute) addresses.push_back({number(), own_number, at});
    uses.push_back(data);
    uses.back().origin = absolute ? at.base : nullptr;
}

/// The box itself where it is not near the patch's cells.
UseData TaskViews::with_box(UseData data, const Box& box) {
    const auto* grid = boxes_apart_ ? dynamic_cast<const Grid*>(declared_.family) : nullptr;
    const auto near = grid == nullptr
                          ? std::nullopt
                          : BoxAround::from(in_.memory.cells(number_of(in_.graph, *grid))[local_], box);
    if (!near) {
        data.box = box;
        return data;
    }
    boxed.push_back(number());
    boxes.push_back(*near);
    return data;
}

void TaskViews::show(std::size_t u) {
    const Use& use = declared_.uses[u];
    const LabelInfo& of = in_.label(use.version.label);
    if (const RequestRole role = request_role(in_.graph, use.version.label); role.is_gate())
        show_gate(use, role);
    else if (use.access == Access::contribute)
        show_contribution(static_cast<int>(u), of);
    else if (of.kind == Kind::scalar)
        show_scalar(resolved_[u]);
    else if (use.relation != nullptr && use.relation->shape() == Shape::particles)
        show_with_halo(use, resolved_[u]);
    else if (of.halo && of.kind == Kind::list)
        show_members(of.halo);
    else if (use.access == Access::need && use.relation != nullptr)
        show_related(use, of, resolved_[u]);
    else if (use.is_scattered())
        show_part(use, of, resolved_[u]);
    else if (of.kind == Kind::particles)
        show_particles(resolved_[u]);
    else if (of.kind == Kind::field)
        show_field(use, of, resolved_[u]);
    else
        show_list(use, resolved_[u]);
}

RoundAddress TaskViews::address(const ResolvedUse& use, const PatchArray& array, std::int64_t bytes) const {
    return numbered_.address(reader_.phase, in_.storage(use.storage), array.origin + bytes,
                             array.buffer_stride, use.back);
}

void TaskViews::show_field(const Use& use, const LabelInfo& of, const ResolvedUse& resolved) {
    const PatchArray& array = in_.memory.own(resolved.storage, local_);
    const FieldLayout& layout = in_.memory.layout(resolved.storage);
    const Box owns = owned(of, patch_);
    const int zone = layout.division->grid->zone_of(patch_);
    Box box = owns;
    if (use.access == Access::sum) {  // a block of its own, cleared for each call
        const FieldBlock& window = layout.blocks[static_cast<std::size_t>(local_)];
        box = common(use.reached(owns), window.stored);
        const auto value = static_cast<std::int64_t>(of.bytes);
        clears.push_back({array.origin - window.offset({0, 0, 0}) * value,
                          static_cast<std::size_t>(array.buffer_stride), nullptr});
    } else if (use.is_sided()) {
        for (const Box& side : upwind_of(owns, use.width, use.towards, use.corners)) box = around(box, side);
        box = common(box, layout.grown(zone, owns, use.width));
        if (use.in_zone) box = common(box, layout.division->grid->whole(zone, of.on, of.border));
    } else if (use.access == Access::need || use.access == Access::modify) {
        box = layout.grown(zone, owns, use.width);
        if (use.in_zone) box = common(box, layout.division->grid->whole(zone, of.on, of.border));
    }
    in_block.push_back({number(), nullptr, array.y, array.z, array.component});
    const UseData data = with_box({}, box);
    // Few patches in a block: then one description of all blocks of the same size is less.
    const bool few = 2 * layout.blocks.size() > layout.division->patches.size();
    add(data, address(resolved, array), few && layout.blocks.size() > 1 ? mine : shared);
    std::swap(in_block.back().origin, uses.back().origin);
}

void TaskViews::show_related(const Use& use, const LabelInfo& of, const ResolvedUse& resolved) {
    switch (use.relation->shape()) {
        case Shape::window:
            return show_window(use, of, resolved);
        case Shape::whole:
            return show_collected(use, of, resolved);
        default:
            return show_gathered(use, of, resolved);
    }
}

void TaskViews::show_window(const Use& use, const LabelInfo& of, const ResolvedUse& resolved) {
    const Box window = use.relation->window(patch_, of.on);
    const Strides steps = packed(extent_of(window), of.bytes);
    std::byte* memory = room_for(all_.windows, static_cast<std::size_t>(steps.component * of.components));
    const auto value = static_cast<std::int64_t>(of.bytes);
    const PatchArray into{nullptr, steps.row / value, steps.plane / value, steps.component / value, 0, 0};
    for (const Piece& piece : use.relation->pieces(patch_, of.on)) {
        const PatchArray& source = arrays_.of(resolved.storage, piece.from, reader_);
        if (source.origin == nullptr) continue;  // nobody makes it there, and the task accepts that
        CopyShape move;
        move.from = address(resolved, source, distance(source, piece.box.lo, of.bytes));
        move.to.base = memory + distance(into, piece.into().shifted(negative(window.lo)).lo, of.bytes);
        move.box = shape_of(piece.box, of, source, steps);
        collects.push_back(copies_.keep(move));
    }
    RoundAddress at;
    at.base = memory - distance(into, window.lo, of.bytes);
    add(with_box({nullptr, into.y, into.z, into.component, 0, {}}, window), at, mine);
}

/// A window of contributions to another family, cleared for each call.
void TaskViews::show_part(const Use& use, const LabelInfo& of, const ResolvedUse& resolved) {
    const PatchArray& array = in_.memory.own(resolved.storage, local_);
    const Box window = use.relation->window(patch_, of.on);
    clears.push_back({array.origin + distance(array, window.lo, of.bytes),
                      static_cast<std::size_t>(array.buffer_stride), nullptr});
    add(with_box({nullptr, array.y, array.z, array.component, 0, {}}, window), address(resolved, array),
        mine);
}

void TaskViews::show_list(const Use& use, const ResolvedUse& resolved) {
    const PatchArray& array = in_.memory.own(resolved.storage, local_);
    if (use.access == Access::sum)
        clears.push_back({array.origin, static_cast<std::size_t>(array.buffer_stride), nullptr});
    if (use.access == Access::make && request_role(in_.graph, use.version.label).what == RequestRole::count) {
        auto* const counts = reinterpret_cast<RequestCounts*>(array.origin);
        clears.push_back({array.origin, offsetof(RequestCounts, times_set), &counts->times_set});
    }
    add({nullptr, 0, 0, array.component, array.count, {}}, address(resolved, array), mine);
}

/// Their place and number are looked up at each call.
void TaskViews::show_particles(const ResolvedUse& resolved) {
    Populations& all = in_.memory.populations();
    const ParticleColumn& column = all.column(resolved.storage);
    particle_views.push_back(
        {static_cast<std::uint32_t>(uses.size()), &column, &all.own(column.set, local_)});
    add({}, {});
}

void TaskViews::show_with_halo(const Use& use, const ResolvedUse& resolved) {
    const HaloCalls calls = halo(static_cast<const ParticleHalo&>(*use.relation));
    const auto number = static_cast<std::uint32_t>(uses.size());
    if (use.access == Access::sum) {
        halo_sums.push_back(calls.sum(resolved));
        halo_sums.back().use = number;
    } else {
        halo_reads.push_back(calls.read(resolved, all_));
        halo_reads.back().use = number;
    }
    add({}, {});
}
void TaskViews::show_members(HaloId of) {
    RoundAddress at;
    at.base = reinterpret_cast<std::byte*>(&in_.memory.halos().members(of, local_));
    add({}, at, mine);
}

void TaskViews::show_gathered(const Use& use, const LabelInfo& of, const ResolvedUse& resolved) {
    const auto value = static_cast<std::int64_t>(of.bytes);
    const std::int64_t count = use.relation->length(patch_);
    std::byte* memory = room_for(all_.windows, static_cast<std::size_t>(count * value * of.components));
    for (const Piece& piece : use.relation->pieces(patch_, of.on)) {
        const PatchArray& source = arrays_.of(resolved.storage, piece.from, reader_);
        if (source.origin == nullptr) continue;
        if (of.kind == Kind::list) check_entries(*use.relation, of, piece, source);
        const auto [first, entries] = entries_in(of, piece.from, source, piece.entries);
        CopyShape move;
        move.from = address(resolved, source, distance(source, first, of.bytes));
        move.to.base = memory + piece.at * value;
        move.entries = all_.store.keep(entries);
        move.from_component = source.component * value;
        move.to_component = count * value;
        move.components = of.components;
        move.bytes = static_cast<std::uint32_t>(of.bytes);
        collects.push_back(copies_.keep(move));
    }
    RoundAddress at;
    at.base = memory;
    add({nullptr, 0, 0, count, count, {}}, at, mine);
}
void TaskViews::show_collected(const Use& use, const LabelInfo& of, const ResolvedUse& resolved) {
    const auto value = static_cast<std::int64_t>(of.bytes);
    const std::vector<Piece> pieces = use.relation->pieces(patch_, of.on);
    std::vector<std::int64_t> starts{0};
    for (const Piece& piece : pieces) starts.push_back(starts.back() + all_values(of, piece.from).volume());
    const std::int64_t count = starts.back();
    std::byte* memory = room_for(all_.windows, static_cast<std::size_t>(count * value * of.components));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const PatchArray& source = arrays_.of(resolved.storage, pieces[i].from, reader_);
        if (source.origin == nullptr) continue;
        const Box box = all_values(of, pieces[i].from);
        Strides to = packed(extent_of(box), of.bytes);
        to.component = count * value;
        CopyShape move;
        move.from = address(resolved, source, distance(source, box.lo, of.bytes));
        move.to.base = memory + starts[i] * value;
        move.box = shape_of(box, of, source, to);
        collects.push_back(copies_.keep(move));
    }
    UseData data{nullptr, 0, 0, count, count, {}};
    data.starts = all_.store.keep(starts).data();
    RoundAddress at;
    at.base = memory;
    add(data, at, mine);
}
void TaskViews::show_scalar(const ResolvedUse& resolved) {
    const PatchArray& array = in_.memory.own(resolved.storage, 0);
    add({nullptr, 0, 0, 1, array.count, {}}, address(resolved, array));
}

/// In place of a scalar's value: what has come through the gate, or the room for answers.
void TaskViews::show_gate(const Use& use, const RequestRole& role) {
    RoundAddress at;
    const auto show = [&](auto& shown) { at.base = reinterpret_cast<std::byte*>(&shown); };
    if (role.what == RequestRole::delivered) {
        if (use.access == Access::need) show(all_.delivered.at(use.version.label)->seen);
    } else {
        AnswersOnTheWay& answers = *all_.answered.at(use.version.label);
        use.access == Access::need ? show(answers.seen) : show(answers.room);
    }
    add({nullptr, 0, 0, 1, 1, {}}, at);
}

/// Of one call's contributions to the next one's.
std::size_t TaskViews::stride() const { return rounded(contributed_, unit_); }

/// The thread that calls the task on a patch, if none other takes the call over.
std::size_t TaskViews::home(int local) const {
    const FamilyId family = numbered_.tasks[task_].family;
    return family ? static_cast<std::size_t>(numbered_.home[family][static_cast<std::size_t>(local)]) : 0;
}

/// Those of a thread lie together, on lines of their own where other threads write beside them.
void TaskViews::make_room_for_contributions() {
    const TaskOps& ops = numbered_.tasks[task_];
    const auto threads = static_cast<std::size_t>(in_.threads);
    std::vector<std::size_t> calls(threads, 0);
    for (std::uint32_t i = 0; i < ops.count; ++i) ++calls[home(ops.local(i))];
    const std::size_t unit = threads == 1 ? unit_ : sizeof(Line);
    std::size_t all = 0;
    for (const std::size_t of_thread : calls) all += rounded(of_thread * stride(), unit);
    std::byte* next = all_.windows.room(all, unit);
    for (const std::size_t of_thread : calls)
        next_call_.push_back(std::exchange(next, next + rounded(of_thread * stride(), unit)));
}

/// The reduction takes them thread by thread: its result does not depend on their order.
void TaskViews::show_contribution(int use, const LabelInfo& of) {
    const std::size_t thread = home(local_);
    if (next_call_.empty()) make_room_for_contributions();
    if (contributions_ == CallShape::kAbsolute) {
        contributions_ = static_cast<std::uint32_t>(own.size());
        own.push_back(std::exchange(next_call_[thread], next_call_[thread] + stride()));
    }
    scalars.push_back({number(), contributions_, static_cast<std::uint32_t>(next_), &of});
    std::vector<Contributions>& slots = slots_[{task_, use}];
    slots.resize(static_cast<std::size_t>(in_.threads));
    Contributions& slot = slots[thread];
    if (slot.count++ == 0)
        slot.first = own[contributions_] + next_, slot.stride = static_cast<std::uint32_t>(stride());
    next_ += rounded(all_bytes(of), unit_);
    uses.push_back({nullptr, 0, 0, 1, of.components, {}});
}

}  // namespace strata::graph::detail
