#include "core/graph/expand/waits/wait_list.hpp"

#include <algorithm>

namespace strata::graph::detail {

void WaitList::add_op(int phase, std::uint32_t op, ScopeId scope, int lag) {
    waits_.push_back(
        {plan_.of(phase).program.ops[op].flag, numbered.scopes[scope], static_cast<std::uint16_t>(lag)});
}

void WaitList::add_other(int process, TaskId task, int local, ScopeId scope, int lag) {
    if (const Flag* flag = shared.flag(process, task, local); flag != nullptr)
        waits_.push_back({flag, numbered.scopes[scope], static_cast<std::uint16_t>(lag)});
}

void WaitList::add_latest(const Flag* flag, const Position& of, const Position& here) {
    waits_.push_back(
        {flag, numbered.scopes[of.scope], static_cast<std::uint16_t>(rounds_since(in, of, here))});
}

void WaitList::add_patch(TaskId task, FamilyId family, int patch, ScopeId scope, int lag) {
    const TaskOps& of = numbered.tasks[task];
    const int process = in.owner(family, patch), at = !of.family ? 0 : in.local(family, patch);
    if (process == in.members.rank) {
        if (const std::uint32_t op = of.op(at); op != kNone) add_op(of.phase, op, scope, lag);
    } else if (in.members.is_on_node(process)) {
        add_other(process, task, at, scope, lag);
    } else if (const std::uint32_t op = streams.image_op(task, process, patch); op != kNone) {
        add_op(of.phase, op, scope, lag);
    }
}

void WaitList::add_all(TaskId task, int lag) {
    const TaskOps& of = numbered.tasks[task];
    for (std::uint32_t i = 0; i < of.count; ++i) add_op(of.phase, of.first + i, in.task(task).scope, lag);
}

void WaitList::give_to(int phase, std::uint32_t number) {
    Program& program = plan_.of(phase).program;
    Op& op = program.ops[number];
    op.first_wait = static_cast<std::uint32_t>(program.waits.size());
    std::sort(waits_.begin(), waits_.end(), [](const Wait& a, const Wait& b) {
        return a.flag != b.flag ? a.flag < b.flag : a.lag < b.lag;
    });
    const Flag* last = nullptr;
    for (const Wait& wait : waits_) {
        if (wait.flag == last) continue;
        if (last == nullptr || !program.waits.extend(wait)) program.waits.push_back(wait);
        last = wait.flag;
    }
    op.last_wait = static_cast<std::uint32_t>(program.waits.size());
    waits_.clear();
}

}  // namespace strata::graph::detail
