// The operations of relocations: for each patch one that finds who leaves and one that takes in who comes.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/graph/expand/builder.hpp"

namespace strata::graph::detail {

namespace {

/// What a process tells the others in one relocation: of itself (used where any number of patches may be
/// crossed), then of its patches, each twice.
struct Told {
    Departing process[2];
    [[nodiscard]] Departures* of(int local) { return reinterpret_cast<Departures*>(this + 1) + 2 * local; }
};

}  // namespace

void PlanBuilder::number_relocation(int task) {
    const ResolvedTask& of = resolved(task);
    const Scope& scope = graph_.scopes()[static_cast<std::size_t>(of.scope)];
    const ParticleSet& set = graph_.particle_sets()[static_cast<std::size_t>(
        scope.relocations()[static_cast<std::size_t>(of.of.version)].set)];
    const int h = halves_[static_cast<std::size_t>(of.scope)], family = number_of(graph_, *set.grid);
    const auto f = static_cast<std::size_t>(family);
    const auto number = [&](const std::string& name) {
        TaskOps all;
        all.half = h;
        all.family = family;
        all.first = static_cast<std::uint32_t>(half(h).program.ops.size());
        all.count = static_cast<std::uint32_t>(patches_[f].size());
        for (std::uint32_t i = 0; i < all.count; ++i)
            add_op(h, OpKind::relocate, name, patches_[f][i], thread_of_[f][i], of.scope);
        return all;
    };
    const TaskOps leave = number(fmt::format("leave {}", set.name));
    TaskOps arrive = number(fmt::format("arrive {}", set.name));
    arrive.leave = static_cast<int>(tasks_.size());
    tasks_.push_back(leave);
    if (relocation_hops(set.id) == 0) {
        TaskOps gather;
        gather.half = h;
        gather.count = 1;
        gather.first = add_op(h, OpKind::relocate, fmt::format("gather {}", set.name), -1, 0, of.scope);
        arrive.gather = static_cast<int>(tasks_.size());
        tasks_.push_back(gather);
    }
    tasks_[static_cast<std::size_t>(task)] = arrive;
}

/// How far the relocations of a set may move a particle: each waits for so many patches around, as each reads
/// and writes the arrays that the one before has written and read. 0: any.
int PlanBuilder::relocation_hops(int set) const {
    int most = 1;
    for (const Scope& scope : graph_.scopes())
        for (const Scope::Relocation& each : scope.relocations())
            if (each.set == set) most = each.hops == 0 || most == 0 ? 0 : std::max(most, each.hops);
    return most;
}

void PlanBuilder::make_relocations(std::uint64_t serial) {
    for (std::size_t t = 0; t < resolved_.tasks.size(); ++t)
        if (resolved_.tasks[t].what == ResolvedTask::What::relocate)
            make_relocation(static_cast<int>(t), serial);
}

void PlanBuilder::make_relocation(int task, std::uint64_t serial) {
    const ResolvedTask& resolved = this->resolved(task);
    const Scope& scope = graph_.scopes()[static_cast<std::size_t>(resolved.scope)];
    const Scope::Relocation& declared = scope.relocations()[static_cast<std::size_t>(resolved.of.version)];
    const ParticleSet& set = graph_.particle_sets()[static_cast<std::size_t>(declared.set)];
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
    Half& of = half(arrive.half);
    Populations& all = plan_.memory_.populations();
    RelocationOf& one = of.relocations.one();
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
    one.steps_before = arrive.half == 0 ? nullptr : &plan_.steps_before_;
    one.all = &all;

    const auto name = [&](int process) {
        return fmt::format("graph.{}.departures.{}.{}", serial, task, process);
    };
    plan_.departures_.emplace_back(members_, name(members_.rank),
                                   sizeof(Told) + arrive.count * 2 * sizeof(Departures));
    std::vector<Told*> told(static_cast<std::size_t>(members_.size));
    if (members_.size > 1) members_.meet();
    for (int process = 0; process < members_.size; ++process)
        told[static_cast<std::size_t>(process)] = reinterpret_cast<Told*>(
            process == members_.rank ? plan_.departures_.back().data()
                                     : SharedMemory::of_other(members_, name(process)));
    Told& mine = *told[static_cast<std::size_t>(members_.rank)];

    const bool anywhere = arrive.gather >= 0;
    std::vector<const Departing*> processes;
    for (Told* each : told) processes.push_back(each->process);
    const auto everywhere = of.departing.keep(processes);
    const int width = relocation_hops(set.id);
    const auto leaves = of.leaves.take(arrive.count);
    std::vector<const Departures*> own;
    for (std::uint32_t i = 0; i < arrive.count; ++i) {
        const int local = static_cast<int>(i);
        const int patch = patches(arrive.family)[i];
        LeaveCall& leave = leaves[i];
        leave.of = &one;
        leave.patch = patch;
        leave.box = grid.box(patch);
        leave.here = &all.own(set.id, local);
        leave.told = mine.of(local);
        if (declared.hops > 0) leave.reach = of.reaches.keep(nearby(grid, patch, declared.hops));
        own.push_back(leave.told);

        ArriveCall& call = of.arrivals.one();
        call.of = &one;
        call.own = &leave;
        if (anywhere) {
            call.all = everywhere;
        } else {
            std::vector<const Departures*> from;
            int last = patch;
            for (const Nearby& each : nearby(grid, patch, width)) {
                if (each.patch == patch || each.patch == last) continue;
                last = each.patch;
                from.push_back(told[static_cast<std::size_t>(owner(arrive.family, last))]->of(
                    this->local(arrive.family, last)));
            }
            call.from = of.departures.keep(from);
        }
        Op& leaving = of.program.ops[ops(arrive.leave).first + i];
        leaving.go = LeaveCall::go, leaving.what = &leave;
        Op& arriving = of.program.ops[arrive.first + i];
        arriving.go = ArriveCall::go, arriving.what = &call;
    }
    if (!anywhere) return;
    GatherCall& gather = of.gathers.one();
    gather.of = &one;
    gather.patches = of.departures.keep(own);
    gather.told = mine.process;
    Op& op = of.program.ops[ops(arrive.gather).first];
    op.go = GatherCall::go, op.what = &gather;
}

void PlanBuilder::wait_in_relocation(int task, int local, std::uint32_t op) {
    const TaskOps& arrive = ops(task);
    const TaskOps& leave = ops(arrive.leave);
    const int scope = resolved(task).scope;
    if (op >= leave.first && op < leave.first + leave.count) {
        wait_for_befores(task, local, op);
        wait_for_op(arrive.half, arrive.first + static_cast<std::uint32_t>(local), scope, 1);
        return;
    }
    if (op < arrive.first || op >= arrive.first + arrive.count) {  // gather
        for (std::uint32_t i = 0; i < leave.count; ++i) wait_for_op(arrive.half, leave.first + i, scope, 0);
        return;
    }
    const int patch = patches(arrive.family)[static_cast<std::size_t>(local)];
    if (arrive.gather < 0) {
        const Scope::Relocation& declared =
            graph_.scopes()[static_cast<std::size_t>(scope)]
                .relocations()[static_cast<std::size_t>(resolved(task).of.version)];
        const auto& grid =
            static_cast<const Grid&>(*graph_.families()[static_cast<std::size_t>(arrive.family)]);
        int last = -1;
        for (const Nearby& each : nearby(grid, patch, relocation_hops(declared.set))) {
            if (each.patch != last) wait_on(arrive.leave, each.patch, scope, 0);
            last = each.patch;
        }
        return;
    }
    for (int process = 0; process < members_.size; ++process)
        if (process == members_.rank)
            wait_for_op(arrive.half, ops(arrive.gather).first, scope, 0);
        else
            waits_.push_back({flag_of(process, arrive.gather, 0), scope_of(scope), 0, -1});
}

void PlanBuilder::put_relocation(int task, Block& block) const {
    const TaskOps& arrive = tasks_[static_cast<std::size_t>(task)];
    for (const int part : {arrive.leave, arrive.gather, task}) {
        if (part < 0) continue;
        const TaskOps& all = tasks_[static_cast<std::size_t>(part)];
        if (all.family < 0) {
            put(all.half, all.first, block);
            continue;
        }
        const auto f = static_cast<std::size_t>(all.family);
        for (const char edge : {char{1}, char{0}})
            for (const int local : order_in_[f])
                if (at_edge_[f][static_cast<std::size_t>(local)] == edge)
                    put(all.half, all.first + static_cast<std::uint32_t>(local), block);
    }
}

}  // namespace strata::graph::detail
