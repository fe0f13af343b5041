// What each operation waits for: the resolved graph's befores, patch by patch.
#include <algorithm>

#include "core/graph/expand/builder.hpp"

namespace strata::graph::detail {

void PlanBuilder::wait_for_op(int half, std::uint32_t op, int scope, int lag) {
    const Flag* flag = this->half(half).program.ops[op].flag;
    const auto own = static_cast<std::int32_t>(op);
    const Wait wait{flag, scope_of(scope), static_cast<std::uint16_t>(lag), own};
    waits_.push_back(wait);
}

/// For one patch of a task, wherever that patch is.
void PlanBuilder::wait_on(int task, int patch, int scope, int lag) {
    const TaskOps& of = ops(task);
    const int process = owner(of.family, patch), at = local(of.family, patch);
    if (process == members_.rank)
        return wait_for_op(of.half, of.first + static_cast<std::uint32_t>(at), scope, lag);
    waits_.push_back({flag_of(process, task, at), scope_of(scope), static_cast<std::uint16_t>(lag), -1});
}

/// For all of a task's operations in this process.
void PlanBuilder::wait_for_all(int task, int lag) {
    const TaskOps& of = ops(task);
    for (std::uint32_t i = 0; i < of.count; ++i)
        wait_for_op(of.half, of.first + i, resolved(task).scope, lag);
}

/// Ghosts come from the patches of the same block, which are read in place, and from the halo.
void PlanBuilder::wait_for_ghosts(const Before& before, const Use& use, const ResolvedUse& of, int patch) {
    const FieldLayout& layout = plan_.memory_.layout(of.storage);
    const Division::Place place = layout.division->find(patch);
    wait_for(before.task, patch, before.lag);
    read_in_place(layout, patch, place, use.width, met_, in_place_);
    for (const int other : in_place_) wait_for(before.task, other, before.lag);
    const auto at = group_of_.find(fill_key(before.through_task, before));
    if (at == group_of_.end()) return;
    const FillGroup& group = groups_[at->second];
    const auto& grid = *layout.division->grid;
    const Box reads = layout.grown(grid.owned(patch, layout.on, layout.border), use.width);
    std::uint32_t last = kNone;
    for (const std::uint32_t fill : group.fills.patch(place.at)) {
        if (group.width != use.width && common(group.fills.all[fill].into(), reads).empty()) continue;
        if (group.op_of[fill] != last)
            wait_for_op(ops(before.task).half, group.op_of[fill], scope_of(group.key),
                        group.key.scope >= 0 ? 0 : before.lag);
        last = group.op_of[fill];
    }
}

void PlanBuilder::wait_through(int patch, const Before& before) {
    const ResolvedTask& who = resolved(before.through_task);
    const Use& use = info(before.through_task).uses[static_cast<std::size_t>(before.through_use)];
    const ResolvedUse& of = who.uses[static_cast<std::size_t>(before.through_use)];
    if (is_in_place(use) && !before.backward) return wait_for_ghosts(before, use, of, patch);
    const auto& others = before.backward ? reach_.readers(use, patch) : reach_.sources(use, patch);
    for (const int other : others) wait_for(before.task, other, before.lag);
}

void PlanBuilder::wait_for_befores(int task, int local, std::uint32_t op) {
    const ResolvedTask& of = resolved(task);
    const TaskOps& mine = ops(task);
    const bool reduces = of.what == ResolvedTask::What::reduce;
    for (const Before& before : of.before) {
        const ResolvedTask& other = resolved(before.task);
        if (ops(before.task).half != mine.half) continue;  // the start is over before the first step
        const TaskOps& theirs = ops(before.task);
        if (reduces && mine.up != kNone) {
            // The way up takes contributions; the result may be written when all have read the one before.
            const bool contributes = !before.backward && before.lag == 0;
            if (contributes != (op == mine.up)) continue;
        }
        if (other.what == ResolvedTask::What::reduce) {
            // A contribution may be written again when it has been taken, here: not when all have the result.
            const bool taken = before.backward && theirs.up != kNone;
            wait_for_op(theirs.half, taken ? theirs.up : theirs.first, other.scope, before.lag);
        } else if (mine.family < 0 || theirs.family < 0) {
            wait_for_all(before.task, before.lag);
        } else if (before.through_use < 0) {
            wait_for(before.task, patches(mine.family)[static_cast<std::size_t>(local)], before.lag);
        } else {
            wait_through(patches(mine.family)[static_cast<std::size_t>(local)], before);
        }
    }
}

void PlanBuilder::make_waits() {
    std::array<std::vector<std::vector<Wait>>, 2> fills;  // by operation: made by group, needed by operation
    for (const int h : {0, 1}) fills[static_cast<std::size_t>(h)].resize(half(h).program.ops.size());
    for (const FillGroup& group : groups_) {
        // What it copies was made after all had read what was there before, in halos too: its maker waits for
        // them.
        auto& lists = fills[static_cast<std::size_t>(ops(group.key.maker).half)];
        for (std::size_t i = 0; i < group.fills.all.size(); ++i) {
            waits_.clear();
            wait_for(group.key.maker, group.fills.all[i].from, group.key.lag);
            auto& list = lists[group.op_of[i]];
            if (list.empty() || list.back().flag != waits_.back().flag) list.push_back(waits_.back());
        }
    }
    for (const int h : {0, 1}) {
        Program& program = half(h).program;
        auto& lists = fills[static_cast<std::size_t>(h)];
        const auto finish = [&](std::uint32_t number) {
            Op& op = program.ops[number];
            op.first_wait = static_cast<std::uint32_t>(program.waits.size());
            std::sort(waits_.begin(), waits_.end(), [](const Wait& a, const Wait& b) {
                return a.flag != b.flag ? a.flag < b.flag : a.lag < b.lag;
            });
            for (const Wait& wait : waits_)  // of two for one flag the later round is enough
                if (program.waits.size() == op.first_wait || program.waits.back().flag != wait.flag)
                    program.waits.push_back(wait);
            op.last_wait = static_cast<std::uint32_t>(program.waits.size());
        };
        for (std::size_t t = 0; t < resolved_.tasks.size(); ++t) {
            const TaskOps& all = tasks_[t];
            if (all.half != h) continue;
            const int task = static_cast<int>(t);
            if (all.leave >= 0) {
                for (const int part : {task, all.leave, all.gather})
                    for (std::uint32_t i = 0; part >= 0 && i < ops(part).count; ++i) {
                        waits_.clear();
                        wait_in_relocation(task, static_cast<int>(i), ops(part).first + i);
                        finish(ops(part).first + i);
                    }
                continue;
            }
            for (std::uint32_t i = 0; i < all.count; ++i) {
                waits_.clear();
                wait_for_befores(task, static_cast<int>(i), all.first + i);
                if (all.up != kNone)  // what the root has found
                    waits_.push_back({flag_of(0, task, 0), scope_of(resolved(task).scope), 0, -1});
                else if (resolved(task).what == ResolvedTask::What::reduce)
                    wait_for_children(task);
                else if (all.family < 0)
                    wait_for_turn(task);
                finish(all.first + i);
            }
            if (all.up == kNone) continue;
            waits_.clear();
            wait_for_befores(task, 0, all.up);
            wait_for_children(task);
            wait_for_op(h, all.first, resolved(task).scope, 1);  // the root has taken what was here
            finish(all.up);
        }
        for (std::size_t number = 0; number < lists.size(); ++number)
            if (!lists[number].empty()) {
                waits_ = std::move(lists[number]);
                finish(static_cast<std::uint32_t>(number));
            }
    }
}

/// Tasks of the whole team run in one order, the same in all processes: as they come in the resolved order,
/// within each scope.
void PlanBuilder::wait_for_turn(int task) {
    int last = -1;
    for (const auto& [is_scope, number] :
         resolved_.scopes[static_cast<std::size_t>(resolved(task).scope)].order) {
        if (is_scope || ops(number).family >= 0 || resolved(number).what != ResolvedTask::What::body)
            continue;
        if (number == task) break;
        last = number;
    }
    if (last >= 0) wait_for_op(ops(last).half, ops(last).first, resolved(last).scope, 0);
}

/// In the tree of processes: their way up. (It follows the flags of their own part, which is one.)
void PlanBuilder::wait_for_children(int task) {
    for (int b = 1; b <= kBranches; ++b)
        if (const int child = members_.rank * kBranches + b; child < members_.size)
            waits_.push_back({flag_of(child, task, 1), scope_of(resolved(task).scope), 0, -1});
}

}  // namespace strata::graph::detail
