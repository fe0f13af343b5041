// What each task finds when it is called: its views, and what is brought to them first.
#include <fmt/format.h>

#include <algorithm>

#include "core/graph/expand/builder.hpp"

namespace strata::graph::detail {

/// A call in the making.
struct PlanBuilder::Making {
    TaskId task;
    int phase = 0, local = 0, patch = -1;
    TaskCall* call = nullptr;
    std::vector<UseData> use_data;
    std::vector<TaskCall::UseAddress> addresses;
    std::vector<ValueCopy> collects;
    std::vector<Clear> clears;
    std::vector<TaskCall::ParticleView> particle_views;
    std::vector<TaskCall::ScalarContribution> scalars;

    void show(const UseData& data, const RoundAddress& address_) {
        if (address_.depth > 1) addresses.push_back({static_cast<std::uint32_t>(use_data.size()), address_});
        use_data.push_back(data);
        use_data.back().origin = address_.base;
    }
};

RoundAddress PlanBuilder::address(int phase, StorageId storage, std::byte* base, std::int64_t address_,
                                  int back) const {
    const Storage& of = this->storage(storage);
    if (of.depth == 1) return {base, 0, 1, 0, 0};
    if (phase == 0)  // the start is round 0
        return {base + address_ * buffer_number(0, static_cast<std::uint32_t>(back),
                                                static_cast<std::uint32_t>(of.depth)),
                0, 1, 0, 0};
    return {base, address_, static_cast<std::uint32_t>(of.depth), scope_of(of.scope),
            static_cast<std::uint16_t>(back)};
}

/// Of any patch; of one of another node, that of its image, which has a reader more from now on.
const PatchArray& PlanBuilder::array_of(StorageId storage, int patch) {
    static const PatchArray nowhere;
    const FamilyId family = family_of(storage);
    if (is_on_node(family, patch))
        return plan_.memory_.of(owner(family, patch), storage, local(family, patch));
    const auto image = images_.find({storage, patch});
    if (image == images_.end()) return nowhere;  // nothing of it is needed
    image->second.readers.push_back(reader_);
    return image->second.array;
}

void PlanBuilder::make_calls() {
    for (const TaskId task : resolved_.tasks.ids()) {
        if (resolved_.tasks[task].what != ResolvedTask::What::body) continue;
        if (!tasks_[task].family) {
            make_team_call(task);
            continue;
        }
        for (std::uint32_t i = 0; i < tasks_[task].count; ++i) make_call(task, static_cast<int>(i));
    }
}

void PlanBuilder::make_call(TaskId task, int local) {
    const TaskInfo& declared = info(task);
    const TaskOps& at = ops(task);
    Making making;
    making.task = task, making.phase = at.phase, making.local = local;
    making.patch = patches(at.family)[static_cast<std::size_t>(local)];
    making.call = &program_data(at.phase).tasks.one();
    reader_ = {at.phase, at.first + static_cast<std::uint32_t>(local), position_of(task, Position::own)};
    const std::vector<ResolvedUse>& uses = resolved(task).uses;
    for (std::size_t u = 0; u < uses.size(); ++u) {
        const Use& use = declared.uses[u];
        const Kind kind = label(use.version.label).kind;
        if (use.access == Access::contribute) {
            show_contribution(making, use);
            slots_[{task, static_cast<int>(u)}].push_back(making.use_data.back().origin);
        } else if (kind == Kind::scalar)
            show_scalar(making, use, uses[u]);
        else if (use.access == Access::need && use.relation != nullptr)
            use.relation->shape() == Shape::window ? show_window(making, use, uses[u])
                                                   : show_gathered(making, use, uses[u]);
        else if (kind == Kind::particles)
            show_particles(making, uses[u]);
        else if (kind == Kind::field)
            show_field(making, use, uses[u]);
        else
            show_list(making, use, uses[u]);
    }
    finish_call(making);
    TaskCall& call = *making.call;
    call.here.patch = making.patch;
    call.here.family = declared.family;
    call.here.use_data = call.use_data;
    call.here.call = &call;
    call.here.creates = TaskCall::create;
    if (at.phase == 0) call.populations = &plan_.memory_.populations();

    Op& op = program_data(at.phase).program.ops[at.first + static_cast<std::uint32_t>(local)];
    op.what = &call;
    const auto* grid = dynamic_cast<const Grid*>(declared.family);
    const double values = grid == nullptr ? 1.0 : static_cast<double>(grid->box(making.patch).volume());
    op.flops = declared.flops * values;
    op.bytes = declared.bytes * values;
    op.values = values;
    op.go = TaskCall::go;
    op.threads = static_cast<std::uint16_t>(declared.threads);
}

/// One call for all patches of this process: its places are those of the process itself (scalars), then, for
/// each patch of each family that its uses name, one for each use.
void PlanBuilder::make_team_call(TaskId task) {
    const TaskInfo& declared = info(task);
    const TaskOps& at = ops(task);
    ProgramData& of = program_data(at.phase);
    Making making;
    making.task = task, making.phase = at.phase;
    making.call = &of.tasks.one();
    const std::vector<ResolvedUse>& uses = resolved(task).uses;
    const auto show = [&](const Family* family) {
        for (std::size_t u = 0; u < uses.size(); ++u) {
            const Use& use = declared.uses[u];
            const LabelInfo& shown = label(use.version.label);
            if (shown.kind == Kind::scalar && use.access == Access::contribute && family == nullptr) {
                show_contribution(making, use);
                slots_[{task, static_cast<int>(u)}].push_back(making.use_data.back().origin);
            } else if (shown.kind == Kind::scalar && use.access != Access::contribute)
                show_scalar(making, use, uses[u]);
            else if (shown.kind != Kind::scalar && shown.family == family)
                shown.kind == Kind::field       ? show_field(making, use, uses[u])
                : shown.kind == Kind::particles ? show_particles(making, uses[u])
                                                : show_list(making, use, uses[u]);
            else
                making.use_data.emplace_back();
        }
    };
    std::vector<const Family*> families;
    for (const Use& use : declared.uses)
        if (const Family* family = label(use.version.label).family;
            family != nullptr && std::find(families.begin(), families.end(), family) == families.end())
            families.push_back(family);
    show(nullptr);
    std::vector<Here> patch_views;
    for (const Family* family : families) {
        const auto& mine = patches(number_of(graph_, *family));
        for (making.local = 0; making.local < static_cast<int>(mine.size()); ++making.local) {
            making.patch = mine[static_cast<std::size_t>(making.local)];
            show(family);
            Here here;
            here.patch = making.patch;
            here.family = family;
            here.task = &declared;
            patch_views.push_back(here);
        }
    }
    finish_call(making);
    TaskCall& call = *making.call;
    call.here.patch = members_.rank;
    call.here.use_data = call.use_data.first(uses.size());
    call.all_own = of.patch_views.keep(patch_views);
    std::vector<Here::Own> owns;
    std::size_t next = 0;
    for (const Family* family : families) {
        const std::size_t count = patches(number_of(graph_, *family)).size();
        for (std::size_t i = next; i < next + count; ++i)
            call.all_own[i].use_data = call.use_data.subspan((i + 1) * uses.size(), uses.size());
        owns.push_back({family, call.all_own.subspan(next, count)});
        next += count;
    }
    call.here.owns = of.owns.keep(owns);
    Op& op = of.program.ops[at.first];
    op.what = &call;
    op.go = TaskCall::go;
    op.speaks_mpi = true;
    op.threads = static_cast<std::uint16_t>(declared.threads);
}

/// What calls on a patch and for the whole process have in common.
void PlanBuilder::finish_call(Making& making) {
    ProgramData& of = program_data(making.phase);
    TaskCall& call = *making.call;
    const TaskInfo& declared = info(making.task);
    call.use_data = of.use_data.keep(making.use_data);
    call.addresses = of.addresses.keep(making.addresses);
    call.collects = of.moves.keep(making.collects);
    call.clears = of.clears.keep(making.clears);
    call.particle_views = of.particle_views.keep(making.particle_views);
    call.scalars = of.scalars.keep(making.scalars);
    call.here.task = &declared;
    call.scope = scope_of(declared.scope);
    call.round_base = bases_[declared.scope];
    call.most = graph_.scopes()[declared.scope].most();
    call.measured = &plan_.measured_;
    if (making.phase == 1) call.steps_before = &plan_.steps_before_;
    if (making.patch < 0) return;
    std::vector<Here::MovedOfSet> moves;
    for (const SetId set : declared.moves)
        moves.push_back({set, &plan_.memory_.populations().moved(set, making.local)});
    call.here.moves = of.moved_of_sets.keep(moves);
}

void PlanBuilder::show_field(Making& making, const Use& use, const ResolvedUse& resolved) {
    const LabelInfo& of = label(use.version.label);
    const PatchArray& array = plan_.memory_.own(resolved.storage, making.local);
    const FieldLayout& layout = plan_.memory_.layout(resolved.storage);
    const Box owned = static_cast<const Grid&>(*of.family).owned(making.patch, of.on, of.border);
    UseData data{nullptr, array.y, array.z, array.component, 0, owned};
    if (use.access == Access::sum) {  // a block of its own, cleared for each call
        const auto block = static_cast<std::size_t>(making.local);
        const FieldBlock& window = layout.blocks[block];
        data.box = common(use.reached(owned), window.stored);
        const auto value = static_cast<std::int64_t>(of.bytes);
        making.clears.push_back(
            {array.origin - window.offset({0, 0, 0}) * value, static_cast<std::size_t>(array.buffer_stride)});
    } else if (use.access == Access::need) {
        data.box = layout.grown(owned, use.width);
    }
    making.show(data,
                address(making.phase, resolved.storage, array.origin, array.buffer_stride, resolved.back));
}

void PlanBuilder::show_window(Making& making, const Use& use, const ResolvedUse& resolved) {
    const LabelInfo& of = label(use.version.label);
    const Box window = use.relation->window(making.patch, of.on);
    const Int3 extent{window.extent(0), window.extent(1), window.extent(2)};
    const Strides own = packed(extent, of.bytes);
    std::byte* memory =
        room_for(program_data(making.phase).windows, static_cast<std::size_t>(own.component * of.components));
    const auto value = static_cast<std::int64_t>(of.bytes);
    const PatchArray mine{nullptr, own.row / value, own.plane / value, own.component / value, 0, 0};
    for (const Piece& piece : use.relation->pieces(making.patch, of.on)) {
        const PatchArray& source = array_of(resolved.storage, piece.from);
        ValueCopy move;
        move.from =
            address(making.phase, resolved.storage, source.origin + distance(source, piece.box.lo, of.bytes),
                    source.buffer_stride, resolved.back);
        const Box into = piece.box.shifted(piece.shift);
        const Int3 at{into.lo[0] - window.lo[0], into.lo[1] - window.lo[1], into.lo[2] - window.lo[2]};
        move.to.base = memory + distance(mine, at, of.bytes);
        move.box = {nullptr,
                    nullptr,
                    own,
                    strides(source, of.bytes),
                    {piece.box.extent(0), piece.box.extent(1), piece.box.extent(2)},
                    of.components,
                    static_cast<std::uint32_t>(of.bytes)};
        making.collects.push_back(move);
    }
    RoundAddress address_;
    address_.base = memory - distance(mine, window.lo, of.bytes);
    making.show({nullptr, mine.y, mine.z, mine.component, 0, window}, address_);
}

void PlanBuilder::show_list(Making& making, const Use& use, const ResolvedUse& resolved) {
    const PatchArray& array = plan_.memory_.own(resolved.storage, making.local);
    if (use.access == Access::sum)
        making.clears.push_back({array.origin, static_cast<std::size_t>(array.buffer_stride)});
    making.show({nullptr, 0, 0, array.component, array.count, {}},
                address(making.phase, resolved.storage, array.origin, array.buffer_stride, resolved.back));
}

/// Where they are, and how many, is looked up at each call.
void PlanBuilder::show_particles(Making& making, const ResolvedUse& resolved) {
    Populations& all = plan_.memory_.populations();
    const ParticleColumn& column = all.column(resolved.storage);
    making.particle_views.push_back(
        {static_cast<std::uint32_t>(making.use_data.size()), &column, &all.own(column.set, making.local)});
    making.show({}, {});
}

void PlanBuilder::show_gathered(Making& making, const Use& use, const ResolvedUse& resolved) {
    const LabelInfo& of = label(use.version.label);
    const auto value = static_cast<std::int64_t>(of.bytes);
    const std::int64_t count = use.relation->length(making.patch);
    std::byte* memory =
        room_for(program_data(making.phase).windows, static_cast<std::size_t>(count * value * of.components));
    for (const Piece& piece : use.relation->pieces(making.patch, of.on)) {
        const PatchArray& source = array_of(resolved.storage, piece.from);
        std::vector<std::int32_t> entries = piece.entries;
        if (of.kind == Kind::field) {  // entries count the owned values, x fastest
            const Box owned = static_cast<const Grid&>(*of.family).owned(piece.from, of.on, of.border);
            for (std::int32_t& entry : entries) entry = entry_in(source, owned, entry);
        } else {
            for (const std::int32_t entry : entries)
                if (entry >= source.count)
                    throw Error(
                        fmt::format("relation '{}' takes a value of '{}' on patch {} that is not there",
                                    use.relation->name(), of.name, piece.from))
                        .given(fmt::format("entry {}", entry))
                        .allowed(fmt::format("0 to {}", source.count - 1));
        }
        ValueCopy move;
        const Int3 first = of.kind == Kind::field
                               ? static_cast<const Grid&>(*of.family).owned(piece.from, of.on, of.border).lo
                               : Int3{};
        move.from = address(making.phase, resolved.storage, source.origin + distance(source, first, of.bytes),
                            source.buffer_stride, resolved.back);
        move.to.base = memory + piece.at * value;
        move.entries = program_data(making.phase).indices.keep(entries);
        move.from_component = source.component * value;
        move.to_component = count * value;
        move.components = of.components;
        move.bytes = static_cast<std::uint32_t>(of.bytes);
        making.collects.push_back(move);
    }
    RoundAddress address_;
    address_.base = memory;
    making.show({nullptr, 0, 0, count, count, {}}, address_);
}

void PlanBuilder::show_scalar(Making& making, const Use&, const ResolvedUse& resolved) {
    const PatchArray& array = plan_.memory_.own(resolved.storage, 0);
    making.show({nullptr, 0, 0, 1, array.count, {}},
                address(making.phase, resolved.storage, array.origin, array.buffer_stride, resolved.back));
}

/// A line of its own for each task and patch; the reduction takes them all.
void PlanBuilder::show_contribution(Making& making, const Use& use) {
    const LabelInfo& of = label(use.version.label);
    RoundAddress address_;
    address_.base =
        room_for(program_data(making.phase).windows, static_cast<std::int64_t>(of.bytes) * of.components);
    making.scalars.push_back({address_.base, &of});
    making.show({nullptr, 0, 0, 1, of.components, {}}, address_);
}

}  // namespace strata::graph::detail
