// What each operation waits for: the resolved graph's befores, patch by patch.
#include <algorithm>

#include "core/graph/expand/builder.hpp"

namespace strata::graph::detail {

void PlanBuilder::wait_for_op(int phase, std::uint32_t op, ScopeId scope, int lag) {
    const Flag* flag = this->program_data(phase).program.ops[op].flag;
    const auto own = static_cast<std::int32_t>(op);
    const Wait wait{flag, scope_of(scope), static_cast<std::uint16_t>(lag), own};
    waits_.push_back(wait);
}

/// For what a task does for one patch of a family, wherever that patch is; of another node, until it is here.
void PlanBuilder::wait_on(TaskId task, FamilyId family, int patch, ScopeId scope, int lag) {
    const TaskOps& of = ops(task);
    const int process = owner(family, patch), at = !of.family ? 0 : local(family, patch);
    if (process == members_.rank) {
        wait_for_op(of.phase, of.first + static_cast<std::uint32_t>(at), scope, lag);
    } else if (members_.is_on_node(process)) {
        waits_.push_back({flag_of(process, task, at), scope_of(scope), static_cast<std::uint16_t>(lag), -1});
    } else if (const std::uint32_t op = image_op(task, process); op != kNone) {
        wait_for_op(of.phase, op, scope, lag);
    }
}

/// For all of a task's operations in this process.
void PlanBuilder::wait_for_all(TaskId task, int lag) {
    const TaskOps& of = ops(task);
    for (std::uint32_t i = 0; i < of.count; ++i)
        wait_for_op(of.phase, of.first + i, resolved(task).scope, lag);
}

/// Ghosts come from the patches of the same block, which are read in place, and from the halo.
void PlanBuilder::wait_for_ghosts(const Before& before, const Use& use, const ResolvedUse& of, int patch) {
    const FieldLayout& layout = plan_.memory_.layout(of.storage);
    const Division::PatchPosition position = layout.division->find(patch);
    const FamilyId family = family_of(of.storage);
    wait_for(before.task, family, patch, before.lag);
    read_in_place(layout, patch, position, use.width, met_, in_place_);
    for (const int other : in_place_) wait_for(before.task, family, other, before.lag);
    const auto at = group_of_.find(fill_key(before.through_task, before));
    if (at == group_of_.end()) return;
    const FillGroup& group = groups_[at->second];
    const auto& grid = *layout.division->grid;
    const Box reads = layout.grown(grid.owned(patch, layout.on, layout.border), use.width);
    std::uint32_t last = kNone;
    for (const std::uint32_t fill : group.fills.patch(position.at)) {
        if (group.width != use.width && common(group.fills.all[fill].into(), reads).empty()) continue;
        if (group.op_of[fill] != last)
            wait_for_op(ops(before.task).phase, group.op_of[fill], scope_of(group.key),
                        group.key.scope ? 0 : before.lag);
        last = group.op_of[fill];
    }
}

void PlanBuilder::wait_through(int patch, const Before& before) {
    const ResolvedTask& who = resolved(before.through_task);
    const Use& use = info(before.through_task).uses[static_cast<std::size_t>(before.through_use)];
    const ResolvedUse& of = who.uses[static_cast<std::size_t>(before.through_use)];
    if (is_in_place(use) && !before.backward) return wait_for_ghosts(before, use, of, patch);
    if (before.backward) {  // on other nodes they read images
        const FamilyId family = number_of(graph_, *info(before.through_task).family);
        for (const int other : reach_.readers(use, patch))
            if (is_on_node(family, other)) wait_for(before.task, family, other, before.lag);
        return;
    }
    const FamilyId family = number_of(graph_, reach_.source_family(use));
    for (const int other : reach_.sources(use, patch)) wait_for(before.task, family, other, before.lag);
}

/// Where one of two tasks is of the whole process: what patches of the other read across processes.
void PlanBuilder::wait_for_neighbours(TaskId task, int local, const Before& before) {
    const FamilyId mine = ops(task).family;
    if (before.through_use < 0 || info(before.through_task).family == nullptr) return;
    const Use& use = info(before.through_task).uses[static_cast<std::size_t>(before.through_use)];
    if (label(use.version.label).kind == Kind::scalar) return;
    if (mine && !before.backward)
        wait_through(patches(mine)[static_cast<std::size_t>(local)], before);
    else if (!mine && before.backward)
        for (const int patch : patches(number_of(graph_, reach_.source_family(use))))
            wait_through(patch, before);
}

void PlanBuilder::wait_for_befores(TaskId task, int local, std::uint32_t op) {
    const ResolvedTask& of = resolved(task);
    const TaskOps& mine = ops(task);
    for (const SumInPlace& sum : in_place_sums_)  // it clears what they have used in the round before
        if (sum.maker == task)
            for (const TaskId user : sum.users)
                wait_for(user, mine.family, patches(mine.family)[static_cast<std::size_t>(local)], 1);
    const bool reduces = of.what == ResolvedTask::What::reduce;
    for (const Before& before : of.before) {
        const ResolvedTask& other = resolved(before.task);
        if (ops(before.task).phase != mine.phase) continue;  // the start is over before the first step
        const TaskOps& theirs = ops(before.task);
        if (reduces && mine.up != kNone) {
            // The way up takes contributions; the result may be written when all have read the one before.
            const bool contributes = !before.backward && before.lag == 0;
            if (contributes != (op == mine.up)) continue;
        }
        if (other.what == ResolvedTask::What::reduce) {
            // A contribution may be written again when it has been taken, here: not when all have the result.
            const bool taken = before.backward && theirs.up != kNone;
            wait_for_op(theirs.phase, taken ? theirs.up : theirs.first, other.scope, before.lag);
        } else if (!mine.family || !theirs.family) {
            wait_for_all(before.task, before.lag);
            wait_for_neighbours(task, local, before);
        } else if (before.through_use < 0) {
            wait_for(before.task, mine.family, patches(mine.family)[static_cast<std::size_t>(local)],
                     before.lag);
        } else {
            wait_through(patches(mine.family)[static_cast<std::size_t>(local)], before);
        }
    }
}

/// What was gathered is what an operation waits for; of two waits for one flag the later round is enough.
void PlanBuilder::finish_waits(int which, std::uint32_t number) {
    Program& program = program_data(which).program;
    Op& op = program.ops[number];
    op.first_wait = static_cast<std::uint32_t>(program.waits.size());
    std::sort(waits_.begin(), waits_.end(), [](const Wait& a, const Wait& b) {
        return a.flag != b.flag ? a.flag < b.flag : a.lag < b.lag;
    });
    for (const Wait& wait : waits_)
        if (program.waits.size() == op.first_wait || program.waits.back().flag != wait.flag)
            program.waits.push_back(wait);
    op.last_wait = static_cast<std::uint32_t>(program.waits.size());
}

void PlanBuilder::make_waits() {
    std::array<std::vector<std::vector<Wait>>, 2> fills;  // by operation: made by group, needed by operation
    for (const int h : {0, 1}) fills[static_cast<std::size_t>(h)].resize(program_data(h).program.ops.size());
    for (const FillGroup& group : groups_) {
        // What it copies was made after all had read what was there before, in halos too: its maker waits for
        // them.
        auto& lists = fills[static_cast<std::size_t>(ops(group.key.maker).phase)];
        for (std::size_t i = 0; i < group.fills.all.size(); ++i) {
            waits_.clear();
            wait_for(group.key.maker, family_of(group.key.storage), group.fills.all[i].from, group.key.lag);
            auto& list = lists[group.op_of[i]];
            for (const Wait& wait : waits_)  // one, or none of an image that nobody asked for
                if (list.empty() || list.back().flag != wait.flag) list.push_back(wait);
        }
    }
    for (const int h : {0, 1}) {
        auto& lists = fills[static_cast<std::size_t>(h)];
        for (const TaskId task : resolved_.tasks.ids()) {
            const TaskOps& all = tasks_[task];
            if (all.phase != h) continue;
            if (all.leave) {
                for (const TaskId part : {task, all.leave, all.gather})
                    for (std::uint32_t i = 0; part && i < ops(part).count; ++i) {
                        waits_.clear();
                        wait_in_relocation(task, static_cast<int>(i), ops(part).first + i);
                        finish_waits(h, ops(part).first + i);
                    }
                continue;
            }
            for (std::uint32_t i = 0; i < all.count; ++i) {
                waits_.clear();
                wait_for_befores(task, static_cast<int>(i), all.first + i);
                if (resolved(task).what == ResolvedTask::What::reduce)
                    wait_for_result(task);
                else if (!all.family)
                    wait_for_turn(task);
                wait_for_packing(task, !all.family ? -1 : patches(all.family)[i]);
                finish_waits(h, all.first + i);
            }
            if (all.up == kNone) continue;
            waits_.clear();
            wait_for_befores(task, 0, all.up);
            wait_for_children(task);
            wait_for_op(h, all.first, resolved(task).scope, 1);  // the root has taken what was here
            finish_waits(h, all.up);
        }
        for (std::size_t number = 0; number < lists.size(); ++number)
            if (!lists[number].empty()) {
                waits_ = std::move(lists[number]);
                finish_waits(h, static_cast<std::uint32_t>(number));
            }
        wait_in_messages(h);
    }
}

/// Tasks of the whole team run in one order, the same in all processes: as they come in the resolved order,
/// within each scope.
void PlanBuilder::wait_for_turn(TaskId task) {
    TaskId last;
    for (const auto& [other, inner] : resolved_.scopes[resolved(task).scope].order) {
        if (inner || ops(other).family || resolved(other).what != ResolvedTask::What::body) continue;
        if (other == task) break;
        last = other;
    }
    if (last) wait_for_op(ops(last).phase, ops(last).first, resolved(last).scope, 0);
}

/// A reduction's operation that puts the result in its place: who finds it out, waits for the others' parts;
/// who is told it, for that. And for what was said of the result before to other nodes.
void PlanBuilder::wait_for_result(TaskId task) {
    const TaskOps& all = ops(task);
    const ScopeId scope = resolved(task).scope;
    if (all.up == kNone)
        wait_for_children(task);
    else if (members_.rank != members_.first())
        waits_.push_back({flag_of(members_.first(), task, 0), scope_of(scope), 0, -1});
    for (const std::size_t i : all.incoming)
        if (incoming_[i].what == Stream::What::reduced) wait_for_op(all.phase, incoming_[i].first, scope, 0);
    for (const std::size_t i : all.outgoing)
        if (outgoing_[i].what == Stream::What::reduced) wait_for_op(all.phase, outgoing_[i].first, scope, 1);
}

/// In the tree of processes of a node: their way up. (It follows the flags of their own part, which is one.)
/// In that of the nodes: what has come from them.
void PlanBuilder::wait_for_children(TaskId task) {
    const TaskOps& all = ops(task);
    const ScopeId scope = resolved(task).scope;
    const int here = members_.rank - members_.first();
    for (int b = 1; b <= kBranches; ++b)
        if (const int child = here * kBranches + b; child < members_.on_node())
            waits_.push_back({flag_of(members_.first() + child, task, 1), scope_of(scope), 0, -1});
    for (const std::size_t i : all.incoming)
        if (incoming_[i].what == Stream::What::part_of_reduction)
            wait_for_op(all.phase, incoming_[i].second, scope, 0);
    for (const std::size_t i : all.outgoing)  // what was here has been packed
        if (outgoing_[i].what == Stream::What::part_of_reduction)
            wait_for_op(all.phase, outgoing_[i].first, scope, 1);
}

}  // namespace strata::graph::detail
