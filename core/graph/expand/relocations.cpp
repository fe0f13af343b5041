// The operations of relocations: for each patch one that finds who leaves and one that takes in who comes.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/graph/expand/builder.hpp"

namespace strata::graph::detail {

namespace {

/// What a process tells the others in one relocation: of itself (used where any number of patches may be
/// crossed), then of its patches, each twice.
struct SharedLeavers {
    ProcessLeavers process[2];
    [[nodiscard]] PatchLeavers* of(int local) {
        return reinterpret_cast<PatchLeavers*>(this + 1) + 2 * local;
    }
};

}  // namespace

void PlanBuilder::number_relocation(TaskId task) {
    const ResolvedTask& of = resolved(task);
    const Scope& scope = graph_.scopes()[of.scope];
    const ParticleSet& set =
        graph_.particle_sets()[scope.relocations()[static_cast<std::size_t>(of.relocation)].set];
    const int h = phase_of_[of.scope];
    const FamilyId family = number_of(graph_, *set.grid);
    const auto number = [&](const std::string& name) {
        TaskOps all;
        all.phase = h;
        all.family = family;
        all.first = static_cast<std::uint32_t>(program_data(h).program.ops.size());
        all.count = static_cast<std::uint32_t>(patches_[family].size());
        for (std::uint32_t i = 0; i < all.count; ++i)
            add_op(h, OpKind::relocate, name, patches_[family][i], thread_of_[family][i], of.scope);
        return all;
    };
    const TaskOps leave = number(fmt::format("leave {}", set.name));
    TaskOps arrive = number(fmt::format("arrive {}", set.name));
    arrive.leave = tasks_.next();
    tasks_.push_back(leave);
    if (relocation_hops(set.id) == 0) {
        TaskOps gather;
        gather.phase = h;
        gather.count = 1;
        gather.first = add_op(h, OpKind::relocate, fmt::format("gather {}", set.name), -1, 0, of.scope);
        arrive.gather = tasks_.next();
        tasks_.push_back(gather);
    }
    tasks_[task] = arrive;
}

/// How far the relocations of a set may move a particle: each waits for so many patches around, as each reads
/// and writes the arrays that the one before has written and read. 0: any.
int PlanBuilder::relocation_hops(SetId set) const {
    int most = 1;
    for (const Scope& scope : graph_.scopes())
        for (const Scope::Relocation& each : scope.relocations())
            if (each.set == set) most = each.hops == 0 || most == 0 ? 0 : std::max(most, each.hops);
    return most;
}

void PlanBuilder::make_relocations(std::uint64_t serial) {
    for (const TaskId t : resolved_.tasks.ids())
        if (resolved_.tasks[t].what == ResolvedTask::What::relocate) make_relocation(t, serial);
}

void PlanBuilder::make_relocation(TaskId task, std::uint64_t serial) {
    const ResolvedTask& resolved = this->resolved(task);
    const Scope& scope = graph_.scopes()[resolved.scope];
    const Scope::Relocation& declared = scope.relocations()[static_cast<std::size_t>(resolved.relocation)];
    const ParticleSet& set = graph_.particle_sets()[declared.set];
    const LabelInfo& position = label(declared.position.label);
    const Grid& grid = *set.grid;
    const auto refuse = [&](const std::string& why) {
        return Error(
            fmt::format("particles '{}' cannot be relocated by '{}': {}", set.name, position.name, why));
    };
    if (position.element != Element::f64 && position.element != Element::f32)
        throw refuse("it is no position").allowed("double or float");
    if (position.components > 3)
        throw refuse("it has too many components")
            .given(fmt::format("{}", position.components))
            .allowed("1 to 3");
    for (int a = position.components; a < 3; ++a)
        if (grid.shape().cells.extent(a) > 1)
            throw refuse(
                fmt::format("'{}' has cells in a direction that it has no component for", grid.name()))
                .given(fmt::format("{} components", position.components))
                .allowed(fmt::format("{} or more", a + 1));

    const TaskOps arrive = ops(task);
    ProgramData& of = program_data(arrive.phase);
    Populations& all = plan_.memory_.populations();
    SetRelocation& one = of.relocations.one();
    one.set = &set;
    one.position_label = &position;
    one.cells = Cells(grid.shape());
    one.cells.directions = position.components;
    std::vector<ParticleColumn> moved;
    for (const ResolvedUse& use : resolved.uses) {
        moved.push_back(all.column(use.storage));
        if (use.label == position.id) one.position = moved.back();
        if (use.label == set.id_label) one.id = moved.back();
    }
    one.moved = of.columns.keep(moved);
    one.hops = declared.hops;
    one.scope = scope_of(resolved.scope);
    one.steps_before = arrive.phase == 0 ? nullptr : &plan_.steps_before_;
    one.all = &all;
    one.movers_named = resolved.movers_named;

    const auto name = [&](int process) {
        return fmt::format("graph.{}.departures.{}.{}", serial, task.number(), process);
    };
    plan_.departures_.emplace_back(members_, name(members_.rank),
                                   sizeof(SharedLeavers) + arrive.count * 2 * sizeof(PatchLeavers));
    std::vector<SharedLeavers*> shared;  // [process of this node]
    if (members_.size > 1) members_.meet();
    for (int process = members_.first(); process < members_.first() + members_.on_node(); ++process)
        shared.push_back(reinterpret_cast<SharedLeavers*>(
            process == members_.rank ? plan_.departures_.back().data()
                                     : SharedMemory::of_other(members_, name(process))));
    SharedLeavers& mine = *shared[static_cast<std::size_t>(members_.rank - members_.first())];

    const bool anywhere{arrive.gather};
    std::vector<const ProcessLeavers*> processes;
    for (SharedLeavers* each : shared) processes.push_back(each->process);
    const auto everywhere = of.departing.keep(processes);
    const int width = relocation_hops(set.id);
    const auto leaves = of.leaves.take(arrive.count);
    std::vector<const PatchLeavers*> own;
    for (std::uint32_t i = 0; i < arrive.count; ++i) own.push_back(mine.of(static_cast<int>(i)));
    const std::map<int, const PatchLeavers*> afar = make_leavers(task, one, own);
    for (std::uint32_t i = 0; i < arrive.count; ++i) {
        const int local = static_cast<int>(i);
        const int patch = patches(arrive.family)[i];
        LeaveCall& leave = leaves[i];
        leave.of = &one;
        leave.patch = patch;
        leave.box = grid.box(patch);
        leave.here = &all.own(set.id, local);
        leave.leavers = mine.of(local);
        if (resolved.movers_named) leave.moved = &all.moved(set.id, local);
        if (declared.hops > 0) leave.reach = of.reaches.keep(nearby(grid, patch, declared.hops));

        ArriveCall& call = of.arrivals.one();
        call.of = &one;
        call.own = &leave;
        std::vector<const PatchLeavers*> from;
        if (anywhere) {
            call.all = everywhere;
            for (const auto& [process, shown] : afar) from.push_back(shown);
        } else {
            int last = patch;
            for (const Nearby& each : nearby(grid, patch, width)) {
                if (each.patch == patch || each.patch == last) continue;
                last = each.patch;
                const int process = owner(arrive.family, last);
                if (members_.is_on_node(process))
                    from.push_back(shared[static_cast<std::size_t>(process - members_.first())]->of(
                        this->local(arrive.family, last)));
                else if (std::find(from.begin(), from.end(), afar.at(process)) == from.end())
                    from.push_back(afar.at(process));
            }
        }
        call.from = of.departures.keep(from);
        Op& leaving = of.program.ops[ops(arrive.leave).first + i];
        leaving.go = LeaveCall::go, leaving.what = &leave;
        Op& arriving = of.program.ops[arrive.first + i];
        arriving.go = ArriveCall::go, arriving.what = &call;
    }
    if (!anywhere) return;
    GatherCall& gather = of.gathers.one();
    gather.of = &one;
    gather.patches = of.departures.keep(own);
    gather.leavers = mine.process;
    Op& op = of.program.ops[ops(arrive.gather).first];
    op.go = GatherCall::go, op.what = &gather;
}

/// What goes to other nodes, and what comes from there: returns that, by process, as a patch's departures
/// would be.
std::map<int, const PatchLeavers*> PlanBuilder::make_leavers(TaskId task, const SetRelocation& one,
                                                             const std::vector<const PatchLeavers*>& own) {
    const TaskOps& arrive = ops(task);
    ProgramData& of = program_data(arrive.phase);
    const FamilyId f = arrive.family;
    const auto& grid = static_cast<const Grid&>(*graph_.families()[f]);
    for (const std::size_t s : arrive.outgoing) {
        Stream& stream = outgoing_[s];
        stream.keys.clear();
        std::vector<const PatchLeavers*> from;
        for (std::uint32_t i = 0; i < arrive.count; ++i) {
            const int patch = patches_[f][i];
            bool reaches{arrive.gather};
            if (!reaches)
                for (const Nearby& each : nearby(grid, patch, relocation_hops(one.set->id)))
                    reaches = reaches || owner(arrive.family, each.patch) == stream.process;
            if (!reaches) continue;
            stream.keys.push_back({task, {}, patch});
            from.push_back(own[i]);
        }
        PackLeaversCall& call = of.packed_leavers.one();
        call.of = &one;
        call.channel = stream.channel;
        call.patches = of.departures.keep(from);
        call.owner = plan_.assignment_.owner[f];
        call.process = stream.process;
        of.program.ops[stream.first].go = PackLeaversCall::go;
        of.program.ops[stream.first].what = &call;
    }
    std::map<int, const PatchLeavers*> afar;
    for (const std::size_t s : arrive.incoming) {
        ReceiveLeaversCall& call = of.received_leavers.one();
        call.of = &one;
        call.channel = incoming_[s].channel;
        of.program.ops[incoming_[s].first].go = ReceiveLeaversCall::go;
        of.program.ops[incoming_[s].first].what = &call;
        afar[incoming_[s].process] = call.shown;
    }
    return afar;
}

void PlanBuilder::wait_in_relocation(TaskId task, int local, std::uint32_t op) {
    const TaskOps& arrive = ops(task);
    const TaskOps& leave = ops(arrive.leave);
    const ScopeId scope = resolved(task).scope;
    if (op >= leave.first && op < leave.first + leave.count) {
        wait_for_befores(task, local, op);
        wait_for_op(arrive.phase, arrive.first + static_cast<std::uint32_t>(local), scope, 1);
        // Arrays are written again when those who left them for other nodes have been packed.
        for (const Stream& stream : outgoing_)
            if (stream.what == Stream::What::leavers && ops(stream.maker).phase == arrive.phase &&
                relocation(stream.maker).set == relocation(task).set)
                wait_for_latest(arrive.phase, stream.first, position_of(stream.maker, Position::pack),
                                position_of(task, Position::own));
        return;
    }
    if (op < arrive.first || op >= arrive.first + arrive.count) {  // gather
        for (std::uint32_t i = 0; i < leave.count; ++i) wait_for_op(arrive.phase, leave.first + i, scope, 0);
        return;
    }
    if (!arrive.gather) {
        const int patch = patches(arrive.family)[static_cast<std::size_t>(local)];
        const auto& grid = static_cast<const Grid&>(*graph_.families()[arrive.family]);
        int last = -1;
        for (const Nearby& each : nearby(grid, patch, relocation_hops(relocation(task).set))) {
            if (each.patch == last) continue;
            last = each.patch;
            const int process = owner(arrive.family, last);
            if (members_.is_on_node(process))
                wait_on(arrive.leave, arrive.family, last, scope, 0);
            else
                wait_for_op(arrive.phase, image_op(task, process), scope, 0);
        }
        return;
    }
    for (const std::size_t i : arrive.incoming) wait_for_op(arrive.phase, incoming_[i].first, scope, 0);
    for (int process = members_.first(); process < members_.first() + members_.on_node(); ++process)
        if (process == members_.rank)
            wait_for_op(arrive.phase, ops(arrive.gather).first, scope, 0);
        else
            waits_.push_back({flag_of(process, arrive.gather, 0), scope_of(scope), 0, -1});
}

void PlanBuilder::put_relocation(TaskId task, Block& block) const {
    const TaskOps& arrive = tasks_[task];
    const FamilyId f = arrive.family;
    const auto put_all = [&](const TaskOps& all, char edge) {
        for (std::size_t local = 0; local < at_edge_[f].size(); ++local)
            if (at_edge_[f][local] == edge)
                put(all.phase, all.first + static_cast<std::uint32_t>(local), block);
    };
    const TaskOps& leave = tasks_[arrive.leave];
    put_all(leave, 1);
    put_messages(task, true, Stream::What::leavers, block);
    put_all(leave, 0);
    if (arrive.gather) put(arrive.phase, tasks_[arrive.gather].first, block);
    put_messages(task, false, Stream::What::leavers, block);
    put_all(arrive, 1);
    put_all(arrive, 0);
}

}  // namespace strata::graph::detail
