// What resolving a graph works with: for each label and scope its versions in order, who makes and who reads
// each, and what waits for what. Not for use outside this folder.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/resolve/resolved.hpp"

namespace strata::graph::resolving {

/// A use of a resolved task.
struct UseOfTask {
    TaskId task;
    int use = -1;
    friend auto operator<=>(const UseOfTask&, const UseOfTask&) = default;
};

/// A version of a label as one scope counts them.
struct Value {
    UseOfTask maker;  // the use that makes it,
    ScopeId scope;    // or the inner scope that does, as a whole. Neither: it was there before (version 0)
    std::vector<UseOfTask> readers;  // of this scope
    std::vector<ScopeId> scopes;     // inner scopes whose rounds begin with it
};

/// The versions of a label in a scope.
struct Timeline {
    ScopeId scope;
    LabelId label;
    std::vector<Value> values;  // [version]
    int taken = 0;              // the version of the scope around that a first round begins with
    bool enters = false;        // something reads what was there before the scope's first round
    struct Earlier {
        UseOfTask reader;
        int back;
    };
    std::vector<Earlier> earlier;  // who reads generations of rounds before, where this is the label's home
    [[nodiscard]] int last() const { return static_cast<int>(values.size()) - 1; }
};

/// Before, with the scope whose rounds `lag` counts, and why.
struct Edge {
    Before before;
    ScopeId level = kStart;
    int level_lag = 0;
    LabelId label;
};

/// A task, with its use and when it was, as found by readers_of() and writers_of().
struct UseInRound {
    UseOfTask at;
    ScopeId level = kStart;
    int lag = 0;  // so many rounds of that scope ago
};

/// What a use of a resolved task does.
struct UseInfo {
    Access access = Access::need;
    LabelId label;
    int version = 0;  // as the task's scope counts; of a previous(): -1
    int back = 0;
    const Relation* relation = nullptr;
    Int3 width{};
    UseOfTask contribution;  // combine, reduce: whose
};

struct RelocatedSet {
    TaskId task;
    std::vector<TaskId> tasks;  // of the scope and within it that use labels of the set,
    std::vector<bool> after;    // and whether they see what is there afterwards
    std::vector<LabelId> moved;
};

struct Model {
    explicit Model(const Graph& graph, Resolved& out) : graph(graph), out(out) {}

    const Graph& graph;
    Resolved& out;
    std::vector<LabelId> labels_by_name;
    std::vector<TaskId> tasks_by_name;
    VectorBy<TaskId, std::vector<UseInfo>> uses;
    std::vector<Timeline> timelines;
    std::vector<int> timeline_at;     // [label * scopes + scope], -1
    VectorBy<LabelId, ScopeId> home;  // whose rounds are the label's generations, none: it has none
    std::vector<TaskId> sum_of;       // [label * scopes + scope]: the combination or reduction there
    VectorBy<TaskId, std::vector<Edge>> edges;
    std::vector<RelocatedSet> relocated;

    [[nodiscard]] const LabelInfo& label(LabelId id) const { return graph.labels()[id]; }
    [[nodiscard]] const Scope& scope(ScopeId id) const { return graph.scopes()[id]; }
    [[nodiscard]] IdsBelow<ScopeId> scopes() const { return graph.scopes().ids(); }
    [[nodiscard]] std::size_t key(ScopeId scope, LabelId label) const {
        return static_cast<std::size_t>(label.number()) * graph.scopes().size() +
               static_cast<std::size_t>(scope.number());
    }
    [[nodiscard]] ResolvedTask& task(TaskId id) const { return out.tasks[id]; }
    [[nodiscard]] UseInfo& use(const UseOfTask& of) {
        return uses[of.task][static_cast<std::size_t>(of.use)];
    }
    [[nodiscard]] const UseInfo& use(const UseOfTask& of) const {
        return uses[of.task][static_cast<std::size_t>(of.use)];
    }
    /// Null where the label does not exist in the scope.
    [[nodiscard]] Timeline* timeline(ScopeId scope, LabelId label) {
        const int at = timeline_at[key(scope, label)];
        return at < 0 ? nullptr : &timelines[static_cast<std::size_t>(at)];
    }
    [[nodiscard]] bool inside(ScopeId scope, ScopeId ancestor) const {
        while (scope && scope != ancestor) scope = graph.scopes()[scope].parent();
        return scope == ancestor;
    }
    /// The scope directly in `ancestor` that contains `scope`; none where they are the same.
    [[nodiscard]] ScopeId child_of(ScopeId ancestor, ScopeId scope) const;
    [[nodiscard]] ScopeId common_scope(ScopeId a, ScopeId b) const;
    /// Its versions may be skipped as a whole.
    [[nodiscard]] bool may_not_run(ScopeId s) const { return scope(s).form() == Scope::Form::when; }

    [[nodiscard]] bool in_processes(TaskId t) const {
        const TaskId body = task(t).task;
        return body && graph.tasks()[body].runs == Runs::in_processes;
    }
    /// For messages: "task 'diffuse'", "the sum of 'mass'".
    [[nodiscard]] std::string say(TaskId task) const;
    [[nodiscard]] std::string say(ScopeId s) const { return fmt::format("scope '{}'", scope(s).name()); }
    [[nodiscard]] std::string say(LabelId label, int version) const;
    [[nodiscard]] Error refuse(const std::string& why) const {
        return Error(fmt::format("graph '{}': {}", graph.name(), why));
    }
};

/// Refuses declarations that can be judged alone: families, relations, widths, bodies.
void check_tasks(const Graph& graph);
/// Refuses relocations by a label that is no position in their grid.
void check_relocations(const Graph& graph);
/// Makes out.tasks: bodies, then combinations, reductions and relocations.
void list_tasks(Model& model);
/// Finds what each label is in each scope.
void make_timelines(Model& model);
/// What must come before what, but for the reuse of storages by temporaries.
void find_edges(Model& model);
/// The order of all scopes at level of tasks; throws where tasks wait for each other. Ranks are by cost.
void order_scopes(Model& model);
/// Storages, shared where lives do not meet, with what that adds to the edges.
void assign_storages(Model& model);
/// Edges become `before`, without repetition and without what others imply.
void settle_edges(Model& model);
/// Who decides, and which scalar.
void find_decisions(Model& model);

/// Who reads what version `v` of a scope holds, also under the names that it has in scopes around and within
/// and in the round before; `but` : not the inner scope that asks.
[[nodiscard]] std::vector<UseInRound> readers_of(Model& model, ScopeId scope, LabelId label, int v,
                                                 int lag = 0, ScopeId but = {});
/// Who wrote it.
[[nodiscard]] std::vector<UseInRound> writers_of(Model& model, ScopeId scope, LabelId label, int v,
                                                 int lag = 0);
/// Who reads the generation that label's home begins to overwrite, and who wrote it, for the maker of version
/// 0.
void add_overwritten(Model& model, TaskId writer, LabelId label, int depth);
/// The only scope in which a label exists, where all it holds is made and used up in each round; or none.
[[nodiscard]] ScopeId scope_of_temporary(Model& model, LabelId label);
/// `to` waits for `reach`; dropped where it says nothing.
void add_edge(Model& model, TaskId to, const UseInRound& reach, UseOfTask through, bool backward,
              LabelId label);

}  // namespace strata::graph::resolving
