#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/graph/resolve/model.hpp"

namespace strata::graph {

namespace {

using resolving::Model;

void list_scopes(Model& m) {
    m.out.scopes.resize(m.graph.scopes().size());
    for (const Scope& scope : m.graph.scopes()) {
        m.out.scopes[scope.id()].scope = scope.id();
        if (scope.parent()) m.out.scopes[scope.parent()].inside.push_back(scope.id());
    }
    for (const TaskId t : m.out.tasks.ids()) m.out.scopes[m.out.tasks[t].scope].tasks.push_back(t);
}

/// Messages and drawings identify families and relations by name, so names must differ.
void check_names(const Graph& graph) {
    std::unordered_map<std::string, const void*> known;
    const auto check = [&](const std::string& name, const void* it, const char* what) {
        const auto [at, fresh] = known.emplace(std::string(what) + ' ' + name, it);
        if (!fresh && at->second != it)
            throw Error(fmt::format("graph '{}' has two {} of one name", graph.name(), what))
                .given(name)
                .remedy("messages and drawings know them by their names: give each its own");
    };
    for (const auto& family : graph.families()) check(family->name(), family.get(), "families");
    for (const auto& relation : graph.relations()) check(relation->name(), relation.get(), "relations");
    for (const TaskInfo& task : graph.tasks())
        if (task.family != nullptr) check(task.family->name(), task.family, "families");
}

void warn(Model& m) {
    std::set<LabelId> used, read;
    for (const std::vector<resolving::UseInfo>& uses : m.uses)
        for (const resolving::UseInfo& p : uses) {
            used.insert(p.label);
            const bool reads = p.access == Access::need || p.access == Access::modify;
            if (reads && !p.contribution.task) read.insert(p.label);
        }
    for (const Scope& scope : m.graph.scopes()) read.insert(scope.decided_by().label);
    for (const LabelId label : m.labels_by_name) {
        const LabelInfo& info = m.label(label);
        if (used.count(label) == 0)
            m.out.warnings.push_back(fmt::format("label '{}' is used by no task", info.name));
        else if (read.count(label) == 0 && info.history == 0 && !info.kept && !info.particle_set &&
                 info.kind != Kind::scalar &&  // a run reports scalars
                 !(m.timeline(kStep, label) != nullptr && m.timeline(kStep, label)->enters))
            m.out.warnings.push_back(fmt::format("label '{}' is made and never read", info.name));
        if (info.history > 0 && !m.home[label] && used.count(label) > 0)
            m.out.warnings.push_back(
                fmt::format("label '{}' keeps no earlier generation, as no task makes it anew", info.name));
    }
}

}  // namespace

namespace {

/// It stays as long as the run.
void give_back_room(Resolved& resolved) {
    for (ResolvedTask& task : resolved.tasks) task.uses.shrink_to_fit(), task.before.shrink_to_fit();
    for (Storage& storage : resolved.storages) storage.others.shrink_to_fit();
    for (ResolvedScope& scope : resolved.scopes) scope.order.shrink_to_fit(), scope.tasks.shrink_to_fit();
    resolved.tasks.shrink_to_fit(), resolved.storages.shrink_to_fit(), resolved.scopes.shrink_to_fit();
}

}  // namespace

Resolved resolve(const Graph& graph) {
    resolving::check_tasks(graph);
    resolving::check_sweeps(graph);
    resolving::check_relocations(graph);
    resolving::check_halos(graph);
    check_names(graph);
    Resolved resolved;
    Model m(graph, resolved);
    resolving::list_tasks(m);
    list_scopes(m);
    resolving::make_timelines(m);
    resolving::check_patches(m);
    resolving::keep_for_objects(m);
    resolving::find_decisions(m);
    resolving::find_edges(m);
    resolving::order_scopes(m);
    resolving::assign_storages(m);
    resolving::settle_edges(m);
    resolving::check_gates(m);
    warn(m);
    give_back_room(resolved);
    return resolved;
}

}  // namespace strata::graph
