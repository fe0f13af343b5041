// Which operations there are, and which thread each is for.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/graph/expand/builder.hpp"

namespace strata::graph::detail {

/// The scopes of each program are counted from its outermost one.
void PlanBuilder::number_scopes() {
    std::array<std::uint16_t, 2> next{0, 0};
    for (const Scope& scope : graph_.scopes()) {
        const int phase = scope.form() == Scope::Form::start  ? 0
                          : scope.form() == Scope::Form::step ? 1
                                                              : phase_of_[scope.parent()];
        phase_of_.push_back(phase);
        scopes_.push_back(next[static_cast<std::size_t>(phase)]++);
        bases_.push_back(scope.form() == Scope::Form::repeat ? &this->program_data(phase).round_bases.one()
                                                             : nullptr);
    }
    plan_.scopes_ = scopes_;
    plan_.start_.program.scopes = next[0];
    plan_.step_.program.scopes = next[1];
}

/// A contiguous piece of the family's order for each thread.
void PlanBuilder::divide_among_threads() {
    for (const FamilyId f : patches_.ids()) {
        const Family& family = *graph_.families()[f];
        const std::size_t mine = patches_[f].size();
        std::vector<int> along;
        along.reserve(mine);
        for (const int patch : family.order())
            if (is_mine(f, patch)) along.push_back(local(f, patch));
        std::vector<int> thread(mine);
        for (std::size_t i = 0; i < mine; ++i)
            thread[static_cast<std::size_t>(along[i])] =
                static_cast<int>(i * static_cast<std::size_t>(threads_) / mine);
        std::vector<char> edge(mine, 0);
        if (threads_ > 1 || members_.size > 1)
            for (std::size_t i = 0; i < mine; ++i)
                for (const int other : family.neighbours(patches_[f][i]))
                    edge[i] |=
                        !is_mine(f, other) || thread[static_cast<std::size_t>(local(f, other))] != thread[i];
        thread_of_.push_back(std::move(thread));
        at_edge_.push_back(std::move(edge));
    }
    plan_.start_.program.threads = plan_.step_.program.threads = threads_;
}

std::uint32_t PlanBuilder::add_op(int phase, OpKind kind, const std::string& name, int patch, int thread,
                                  ScopeId scope) {
    Program& program = this->program_data(phase).program;
    if (program.names.empty() || program.names.back() != name) program.names.push_back(name);
    Op op;
    op.kind = kind;
    op.name = static_cast<std::uint32_t>(program.names.size() - 1);
    op.patch = patch;
    program.ops.push_back(op);
    const auto h = static_cast<std::size_t>(phase);
    thread_of_op_[h].push_back(thread);
    edge_op_[h].push_back(1);
    scope_of_op_[h].push_back(scope_of(scope));
    return static_cast<std::uint32_t>(program.ops.size() - 1);
}

void PlanBuilder::number_operations() {
    using What = ResolvedTask::What;
    for (const TaskId t : resolved_.tasks.ids()) {
        const ResolvedTask& task = resolved_.tasks[t];
        TaskOps all;
        all.phase = phase_of_[task.scope];
        Program& program = program_data(all.phase).program;
        all.first = static_cast<std::uint32_t>(program.ops.size());
        const auto h = static_cast<std::size_t>(all.phase);
        if (task.what == What::reduce) {
            const std::string name = "reduce " + label(task.completed.label).name;
            all.count = 1;
            add_op(all.phase, OpKind::reduce, name, -1, 0, task.scope);
            if (members_.rank > 0) all.up = add_op(all.phase, OpKind::reduce, name, -1, 0, task.scope);
        } else if (task.what == What::body && info(t).runs == Runs::in_processes) {
            all.count = 1;
            add_op(all.phase, OpKind::task, info(t).name, -1, 0, task.scope);
        } else if (task.what == What::relocate) {
            all.count = 0;  // see below
        } else {
            const bool body = task.what == What::body;
            const Family& family = body ? *info(t).family : *label(task.completed.label).family;
            const std::string name = body ? info(t).name : "combine " + label(task.completed.label).name;
            all.family = number_of(graph_, family);
            const FamilyId f = all.family;
            all.count = static_cast<std::uint32_t>(patches_[f].size());
            for (std::uint32_t i = 0; i < all.count; ++i) {
                const std::uint32_t op = add_op(all.phase, body ? OpKind::task : OpKind::combine, name,
                                                patches_[f][i], thread_of_[f][i], task.scope);
                edge_op_[h][op] = at_edge_[f][i];
            }
        }
        tasks_.push_back(all);
    }
    for (const TaskId t : resolved_.tasks.ids())
        if (resolved_.tasks[t].what == What::relocate) number_relocation(t);
}

FillKey PlanBuilder::fill_key(TaskId reader, const Before& before) const {
    const ResolvedUse& use = resolved(reader).uses[static_cast<std::size_t>(before.through_use)];
    const auto& scopes = graph_.scopes();
    const auto around = [&](ScopeId outer, ScopeId scope) {
        while (scope && scope != outer) scope = scopes[scope].parent();
        return scope == outer;
    };
    ScopeId left_out;  // the outermost part around the reader that may be, and that the maker is not in
    for (ScopeId s = resolved(reader).scope; s; s = scopes[s].parent())
        if (scopes[s].form() == Scope::Form::when && !around(s, resolved(before.task).scope)) left_out = s;
    if (!left_out) return {before.task, use.storage, {}, 0, 0};
    return {before.task, use.storage, left_out, before.lag, use.back};
}

/// The halos to be filled after each task: as wide as the widest that reads its version in place.
void PlanBuilder::find_halos() {
    const auto widen = [&](const FillKey& key, const Int3& width) {
        if (width == Int3{}) return;
        const auto [at, is_new] = group_of_.try_emplace(key, groups_.size());
        if (is_new) groups_.push_back({key, width, {}, {}});
        Int3& widest = groups_[at->second].width;
        for (std::size_t d = 0; d < 3; ++d) widest[d] = std::max(widest[d], width[d]);
    };
    for (const TaskId t : resolved_.tasks.ids()) {
        const ResolvedTask& task = resolved_.tasks[t];
        // A version may have been made by one task in the first round of a loop and by another in later ones.
        for (const Before& before : task.before) {
            if (before.backward || before.through_task != t || before.through_use < 0) continue;
            const Use& use = info(t).uses[static_cast<std::size_t>(before.through_use)];
            if (is_in_place(use)) widen(fill_key(t, before), use.width);
        }
        if (ops(t).phase != 0) continue;
        // What the start leaves is read by the step, whoever made it.
        for (std::size_t u = 0; u < task.uses.size(); ++u) {
            const ResolvedUse& use = task.uses[u];
            const bool writes = task.what != ResolvedTask::What::body ||
                                info(t).uses[u].access == Access::make ||
                                info(t).uses[u].access == Access::modify;
            const bool field = use.storage && label_of(graph_, storage(use.storage)).kind == Kind::field;
            if (writes && field && !storage(use.storage).contributions)
                widen({t, use.storage, {}, 0, 0}, storage(use.storage).ghosts);
        }
    }
    for (FillGroup& group : groups_) add_fills(group);
}

/// One operation for each block and each patch that it copies from.
void PlanBuilder::add_fills(FillGroup& group) {
    const FieldLayout& layout = plan_.memory_.layout(group.key.storage);
    group.fills = find_fills(layout, group.width);
    group.op_of.assign(group.fills.all.size(), kNone);
    const TaskOps& maker = ops(group.key.maker);
    const FamilyId family = family_of(group.key.storage);
    // The thread of the first patch that reads it.
    std::vector<int> thread(group.fills.all.size(), 0);
    for (std::size_t at = layout.division->patches.size(); at-- > 0;) {
        const int patch = layout.division->patches[at];
        for (const std::uint32_t fill : group.fills.patch(at))
            thread[fill] = thread_of_[family][static_cast<std::size_t>(local(family, patch))];
    }
    const std::string name = "ghosts of " + label_of(graph_, storage(group.key.storage)).name;
    for (std::size_t b = 0; b < layout.blocks.size(); ++b)
        for (std::uint32_t i = group.fills.of_block[b]; i < group.fills.of_block[b + 1]; ++i) {
            const int from = group.fills.all[i].from;
            const bool same = i > group.fills.of_block[b] && group.fills.all[i - 1].from == from;
            group.op_of[i] =
                same ? group.op_of[i - 1]
                     : add_op(maker.phase, OpKind::copy, name, from, thread[i], scope_of(group.key));
        }
}

}  // namespace strata::graph::detail
