// What each task finds when it is called: its views, and what is brought to them first.
#include <fmt/format.h>

#include <algorithm>

#include "core/graph/expand/builder.hpp"

namespace strata::graph::detail {

/// A call in the making.
struct PlanBuilder::Making {
    TaskId task;
    int half = 0, local = 0, patch = -1;
    TaskCall* call = nullptr;
    std::vector<Place> places;
    std::vector<TaskCall::Turning> turnings;
    std::vector<Move> collects;
    std::vector<Clear> clears;
    std::vector<TaskCall::Peopled> peopled;
    std::vector<TaskCall::Neutral> neutrals;

    void show(const Place& place, const Turn& turn) {
        if (turn.depth > 1) turnings.push_back({static_cast<std::uint32_t>(places.size()), turn});
        places.push_back(place);
        places.back().origin = turn.base;
    }
};

Turn PlanBuilder::turn(int half, StorageId storage, std::byte* base, std::int64_t turn, int back) const {
    const Storage& of = this->storage(storage);
    if (of.depth == 1) return {base, 0, 1, 0, 0};
    if (half == 0)  // the start is round 0
        return {base + turn * buffer_number(0, static_cast<std::uint32_t>(back),
                                            static_cast<std::uint32_t>(of.depth)),
                0, 1, 0, 0};
    return {base, turn, static_cast<std::uint32_t>(of.depth), scope_of(of.scope),
            static_cast<std::uint16_t>(back)};
}

/// Of any patch; of one of another node, that of its image, which has a reader more from now on.
const Spot& PlanBuilder::spot_of(StorageId storage, int patch) {
    static const Spot nowhere;
    const FamilyId family = family_of(storage);
    if (is_near(family, patch)) return plan_.memory_.of(owner(family, patch), storage, local(family, patch));
    const auto image = images_.find({storage, patch});
    if (image == images_.end()) return nowhere;  // nothing of it is needed
    image->second.readers.push_back(reader_);
    return image->second.spot;
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
    making.task = task, making.half = at.half, making.local = local;
    making.patch = patches(at.family)[static_cast<std::size_t>(local)];
    making.call = &half(at.half).tasks.one();
    reader_ = {at.half, at.first + static_cast<std::uint32_t>(local), position_of(task, Position::own)};
    const std::vector<ResolvedUse>& uses = resolved(task).uses;
    for (std::size_t u = 0; u < uses.size(); ++u) {
        const Use& use = declared.uses[u];
        const Kind kind = label(use.version.label).kind;
        if (use.access == Access::contribute) {
            show_contribution(making, use);
            slots_[{task, static_cast<int>(u)}].push_back(making.places.back().origin);
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
    call.here.places = call.places;
    call.here.call = &call;
    call.here.creates = TaskCall::create;
    if (at.half == 0) call.populations = &plan_.memory_.populations();

    Op& op = half(at.half).program.ops[at.first + static_cast<std::uint32_t>(local)];
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
    Half& of = half(at.half);
    Making making;
    making.task = task, making.half = at.half;
    making.call = &of.tasks.one();
    const std::vector<ResolvedUse>& uses = resolved(task).uses;
    const auto show = [&](const Family* family) {
        for (std::size_t u = 0; u < uses.size(); ++u) {
            const Use& use = declared.uses[u];
            const LabelInfo& shown = label(use.version.label);
            if (shown.kind == Kind::scalar && use.access == Access::contribute && family == nullptr) {
                show_contribution(making, use);
                slots_[{task, static_cast<int>(u)}].push_back(making.places.back().origin);
            } else if (shown.kind == Kind::scalar && use.access != Access::contribute)
                show_scalar(making, use, uses[u]);
            else if (shown.kind != Kind::scalar && shown.family == family)
                shown.kind == Kind::field       ? show_field(making, use, uses[u])
                : shown.kind == Kind::particles ? show_particles(making, uses[u])
                                                : show_list(making, use, uses[u]);
            else
                making.places.emplace_back();
        }
    };
    std::vector<const Family*> families;
    for (const Use& use : declared.uses)
        if (const Family* family = label(use.version.label).family;
            family != nullptr && std::find(families.begin(), families.end(), family) == families.end())
            families.push_back(family);
    show(nullptr);
    std::vector<Here> heres;
    for (const Family* family : families) {
        const auto& mine = patches(number_of(graph_, *family));
        for (making.local = 0; making.local < static_cast<int>(mine.size()); ++making.local) {
            making.patch = mine[static_cast<std::size_t>(making.local)];
            show(family);
            Here here;
            here.patch = making.patch;
            here.family = family;
            here.task = &declared;
            heres.push_back(here);
        }
    }
    finish_call(making);
    TaskCall& call = *making.call;
    call.here.patch = members_.rank;
    call.here.places = call.places.first(uses.size());
    call.all_own = of.heres.keep(heres);
    std::vector<Here::Own> owns;
    std::size_t next = 0;
    for (const Family* family : families) {
        const std::size_t count = patches(number_of(graph_, *family)).size();
        for (std::size_t i = next; i < next + count; ++i)
            call.all_own[i].places = call.places.subspan((i + 1) * uses.size(), uses.size());
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
    Half& of = half(making.half);
    TaskCall& call = *making.call;
    const TaskInfo& declared = info(making.task);
    call.places = of.places.keep(making.places);
    call.turnings = of.turnings.keep(making.turnings);
    call.collects = of.moves.keep(making.collects);
    call.clears = of.clears.keep(making.clears);
    call.peopled = of.peopled.keep(making.peopled);
    call.neutrals = of.neutrals.keep(making.neutrals);
    call.here.task = &declared;
    call.scope = scope_of(declared.scope);
    call.round_base = bases_[declared.scope];
    call.most = graph_.scopes()[declared.scope].most();
    call.measured = &plan_.measured_;
    if (making.half == 1) call.steps_before = &plan_.steps_before_;
    if (making.patch < 0) return;
    std::vector<Here::MovedOf> moves;
    for (const SetId set : declared.moves)
        moves.push_back({set, &plan_.memory_.populations().moved(set, making.local)});
    call.here.moves = of.moves_of.keep(moves);
}

void PlanBuilder::show_field(Making& making, const Use& use, const ResolvedUse& resolved) {
    const LabelInfo& of = label(use.version.label);
    const Spot& spot = plan_.memory_.own(resolved.storage, making.local);
    const FieldLayout& layout = plan_.memory_.layout(resolved.storage);
    const Box owned = static_cast<const Grid&>(*of.family).owned(making.patch, of.on, of.border);
    Place place{nullptr, spot.y, spot.z, spot.component, 0, owned};
    if (use.access == Access::sum) {  // a block of its own, cleared for each call
        const auto block = static_cast<std::size_t>(making.local);
        const FieldBlock& window = layout.blocks[block];
        place.box = common(use.reached(owned), window.stored);
        const auto value = static_cast<std::int64_t>(of.bytes);
        making.clears.push_back(
            {spot.origin - window.offset({0, 0, 0}) * value, static_cast<std::size_t>(spot.turn)});
    } else if (use.access == Access::need) {
        place.box = layout.grown(owned, use.width);
    }
    making.show(place, turn(making.half, resolved.storage, spot.origin, spot.turn, resolved.back));
}

void PlanBuilder::show_window(Making& making, const Use& use, const ResolvedUse& resolved) {
    const LabelInfo& of = label(use.version.label);
    const Box window = use.relation->window(making.patch, of.on);
    const Int3 extent{window.extent(0), window.extent(1), window.extent(2)};
    const Strides own = packed(extent, of.bytes);
    std::byte* memory =
        room_for(half(making.half).windows, static_cast<std::size_t>(own.component * of.components));
    const auto value = static_cast<std::int64_t>(of.bytes);
    const Spot mine{nullptr, own.row / value, own.plane / value, own.component / value, 0, 0};
    for (const Piece& piece : use.relation->pieces(making.patch, of.on)) {
        const Spot& source = spot_of(resolved.storage, piece.from);
        Move move;
        move.from =
            turn(making.half, resolved.storage, source.origin + distance(source, piece.box.lo, of.bytes),
                 source.turn, resolved.back);
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
    Turn turn;
    turn.base = memory - distance(mine, window.lo, of.bytes);
    making.show({nullptr, mine.y, mine.z, mine.component, 0, window}, turn);
}

void PlanBuilder::show_list(Making& making, const Use& use, const ResolvedUse& resolved) {
    const Spot& spot = plan_.memory_.own(resolved.storage, making.local);
    if (use.access == Access::sum)
        making.clears.push_back({spot.origin, static_cast<std::size_t>(spot.turn)});
    making.show({nullptr, 0, 0, spot.component, spot.count, {}},
                turn(making.half, resolved.storage, spot.origin, spot.turn, resolved.back));
}

/// Where they are, and how many, is looked up at each call.
void PlanBuilder::show_particles(Making& making, const ResolvedUse& resolved) {
    Populations& all = plan_.memory_.populations();
    const ParticleColumn& column = all.column(resolved.storage);
    making.peopled.push_back(
        {static_cast<std::uint32_t>(making.places.size()), &column, &all.own(column.set, making.local)});
    making.show({}, {});
}

void PlanBuilder::show_gathered(Making& making, const Use& use, const ResolvedUse& resolved) {
    const LabelInfo& of = label(use.version.label);
    const auto value = static_cast<std::int64_t>(of.bytes);
    const std::int64_t count = use.relation->length(making.patch);
    std::byte* memory =
        room_for(half(making.half).windows, static_cast<std::size_t>(count * value * of.components));
    for (const Piece& piece : use.relation->pieces(making.patch, of.on)) {
        const Spot& source = spot_of(resolved.storage, piece.from);
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
        Move move;
        const Int3 first = of.kind == Kind::field
                               ? static_cast<const Grid&>(*of.family).owned(piece.from, of.on, of.border).lo
                               : Int3{};
        move.from = turn(making.half, resolved.storage, source.origin + distance(source, first, of.bytes),
                         source.turn, resolved.back);
        move.to.base = memory + piece.at * value;
        move.entries = half(making.half).indices.keep(entries);
        move.from_component = source.component * value;
        move.to_component = count * value;
        move.components = of.components;
        move.bytes = static_cast<std::uint32_t>(of.bytes);
        making.collects.push_back(move);
    }
    Turn turn;
    turn.base = memory;
    making.show({nullptr, 0, 0, count, count, {}}, turn);
}

void PlanBuilder::show_scalar(Making& making, const Use&, const ResolvedUse& resolved) {
    const Spot& spot = plan_.memory_.own(resolved.storage, 0);
    making.show({nullptr, 0, 0, 1, spot.count, {}},
                turn(making.half, resolved.storage, spot.origin, spot.turn, resolved.back));
}

/// A line of its own for each task and patch; the reduction takes them all.
void PlanBuilder::show_contribution(Making& making, const Use& use) {
    const LabelInfo& of = label(use.version.label);
    Turn turn;
    turn.base = room_for(half(making.half).windows, static_cast<std::int64_t>(of.bytes) * of.components);
    making.neutrals.push_back({turn.base, &of});
    making.show({nullptr, 0, 0, 1, of.components, {}}, turn);
}

}  // namespace strata::graph::detail
