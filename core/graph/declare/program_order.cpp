#include "core/graph/declare/program_order.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace strata::graph {

ProgramOrder::Newest& ProgramOrder::of(ScopeId scope, LabelId label) {
    const auto reach = [](auto& list, auto id) -> auto& {
        if (!list.has(id)) list.resize(static_cast<std::size_t>(id.number()) + 1);
        return list[id];
    };
    return reach(reach(all_, scope), label);
}

ProgramOrder::Newest& ProgramOrder::entered(ScopeId scope, LabelId label) {
    if (of(scope, label).entered) return of(scope, label);
    Scope& inner = graph_->scopes_[scope];
    const int around = inner.parent_ ? entered(inner.parent_, label).version : 0;
    Newest& newest = of(scope, label);
    newest.entered = true;
    newest.taken = around;
    const auto takes = [&](const Scope::Taken& taken) { return taken.label == label; };
    const auto said = std::find_if(inner.takes_.begin(), inner.takes_.end(), takes);
    if (said != inner.takes_.end())
        newest.taken = said->version;
    else if (around > 0)
        inner.takes_.push_back({{label, around, 0}, true});
    return newest;
}

void ProgramOrder::written(ScopeId scope, LabelId label, int version) {
    Newest& newest = entered(scope, label);
    newest.version = version;
    newest.written = true;
    Scope& inner = graph_->scopes_[scope];
    if (inner.decided_by_newest_ && inner.scalar_.label == label) inner.scalar_.version = version;
    const ScopeId around = inner.parent_;
    if (around) written(around, label, newest.taken + 1);
}

int ProgramOrder::newest(const Scope& scope, LabelId label) {
    return graph_->labels_.has(label) ? of(scope.id_, label).version : 0;
}

void ProgramOrder::declared(const TaskInfo& task, const Use& use) {
    const Version& v = use.version;
    if (v.back != 0 || !graph_->labels_.has(v.label)) return;
    if (use.access == Access::need) {
        Newest& newest = entered(task.scope, v.label);
        if (v.version == 0 && !newest.written && !newest.needed) newest.needed = task.id;
        return;
    }
    if (use.access == Access::modify) {
        if (v.version >= 0) written(task.scope, v.label, v.version + 1);
        return;
    }
    const TaskId before = entered(task.scope, v.label).needed;
    if (before && before != task.id) {
        const std::string& label = graph_->labels_[v.label].name;
        throw Error(fmt::format("task '{}' of graph '{}' needs '{}', which task '{}' makes after it",
                                graph_->tasks_[before].name, graph_->name_, label, task.name))
            .remedy(
                fmt::format("need label.previous() of '{}' for what was there before, or declare the task "
                            "that makes it first: the graph is in program order",
                            label));
    }
    written(task.scope, v.label, v.version);
}

void ProgramOrder::relocated(const Scope& scope, SetId set) {
    for (const LabelInfo& label : graph_->labels_)
        // Positions at a halo's renewal do not move.
        if (label.kind == Kind::particles && label.particle_set == set && !label.halo)
            written(scope.id_, label.id, entered(scope.id_, label.id).version + 1);
}

void Graph::in_program_order() {
    if (order_) return;
    if (!tasks_.empty())
        throw Error(fmt::format("graph '{}' is put in program order after its first task", name_))
            .given(fmt::format("{} tasks", tasks_.size()))
            .remedy("call in_program_order() before the first task is declared");
    order_ = std::make_unique<ProgramOrder>(*this);
}

int Task::newest_of(LabelId label) const { return scope_->newest_of(label); }

int Scope::newest_of(LabelId label) const {
    return graph_->order_ ? graph_->order_->newest(*this, label) : 0;
}

}  // namespace strata::graph
