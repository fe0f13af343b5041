// The model that the steps of resolve() fill one after the other: for each label and scope its versions in
// order with their makers and readers, and the waits between tasks. Not for use outside this folder.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "core/base/counted.hpp"
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
    UseOfTask maker;                 // the use that makes it,
    ScopeId scope;                   // or the inner scope that does. Neither: it existed before (version 0)
    std::vector<UseOfTask> readers;  // of this scope
    std::vector<ScopeId> scopes;     // inner scopes whose rounds begin with it
};

/// The versions of a label in a scope.
struct Timeline {
    ScopeId scope;
    LabelId label;
    std::vector<Value> values;  // [version]
    int taken = 0;              // the version of the scope around with which the first round begins
    bool enters = false;        // a use reads the value from before the scope's first round
    struct Earlier {
        UseOfTask reader;
        int back;
    };
    std::vector<Earlier>
        earlier;  // uses that read generations of earlier rounds, where this is the label's home
    [[nodiscard]] int last() const { return static_cast<int>(values.size()) - 1; }
};

/// A Before, with the scope whose rounds `lag` counts and the label that is its reason.
struct Edge {
    Before before;
    ScopeId level = kStart;
    int level_lag = 0;
    LabelId label;
};

/// A use and its round, as found by readers_of() and writers_of().
struct UseInRound {
    UseOfTask at;
    ScopeId level = kStart;
    int lag = 0;  // so many rounds of that scope ago
};

/// The access of one use of a resolved task.
struct UseInfo {
    Access access = Access::need;
    LabelId label;
    int version = 0;  // as the task's scope counts; -1 for previous()
    int back = 0;
    const Relation* relation = nullptr;
    Int3 width{};
    UseOfTask contribution;    // combine, reduce: the use that contributes
    bool sided = false;        // ghosts on some sides alone
    bool faces_alone = false;  // none beyond edges and corners
};

/// The tasks that a relocation concerns.
struct RelocatedSet {
    TaskId task;
    std::vector<TaskId> tasks;  // those of the scope and within it that use labels of the set,
    std::vector<bool> after;    // and whether they run after it
    std::vector<LabelId> moved;
    /// Tasks of the scopes around that use labels of the set that are made after it and do not move, and
    /// those scopes.
    std::vector<std::pair<TaskId, ScopeId>> around;
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
    VectorBy<LabelId, ScopeId> home;  // the scope whose rounds are the label's generations; none: no history
    std::vector<TaskId> sum_of;       // [label * scopes + scope]: the combination or reduction there
    VectorBy<TaskId, std::vector<Edge>> edges;
    std::vector<RelocatedSet> relocated;
    VectorBy<LabelId, char> kept_for_objects;  // what objects are made again from

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
    /// Whether a round may leave the scope out.
    [[nodiscard]] bool may_not_run(ScopeId s) const { return scope(s).form() == Scope::Form::when; }

    /// Whether the task has one call for the process, rather than one for each patch.
    [[nodiscard]] bool in_processes(TaskId t) const {
        const TaskId body = task(t).task;
        return body && graph.tasks()[body].runs != Runs::on_patches;
    }
    /// Whether patches on which the task does not run have no operation of it.
    [[nodiscard]] bool partial(TaskId t) const {
        const TaskId body = task(t).task;
        return body && graph.tasks()[body].partial();
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
/// Refuses orders within tasks that cannot be: circles of patches, and values that nobody makes.
void check_sweeps(const Graph& graph);
/// Refuses relocations by a label that is no position in their grid.
void check_relocations(const Graph& graph);
/// Refuses halos of particles that are not found anew where particles are relocated.
void check_halos(const Graph& graph);
/// Makes out.tasks: bodies, then combinations, reductions and relocations.
void list_tasks(Model& model);
/// Finds the versions of each label in each scope.
void make_timelines(Model& model);
/// Refuses needs of what tasks on some patches make, on others.
void check_patches(Model& model);
/// Finds the objects that are made again, and what is kept for that; refuses those that cannot be.
void keep_for_objects(Model& model);
/// Refuses requests that are sent off in two scopes of one program, and answers of a round before.
void check_gates(const Model& model);
/// Finds the waits between tasks, but for those that shared storages add.
void find_edges(Model& model);
/// Finds the order of tasks in each scope, ranked by cost; throws Error where tasks wait for each other.
void order_scopes(Model& model);
/// Gives each version a storage, shared where lifetimes do not overlap, and adds the edges for that.
void assign_storages(Model& model);
/// Edges become `before`, without repetition and without what others imply.
void settle_edges(Model& model);
/// Finds the scalar that decides on each repeat and condition, and its maker.
void find_decisions(Model& model);

/// The uses that read version `v` of a scope, also under its numbers in scopes around and within, and in the
/// round before. `but`: leaves out one inner scope.
[[nodiscard]] std::vector<UseInRound> readers_of(Model& model, ScopeId scope, LabelId label, int v,
                                                 int lag = 0, ScopeId but = {});
/// The uses that wrote it.
[[nodiscard]] std::vector<UseInRound> writers_of(Model& model, ScopeId scope, LabelId label, int v,
                                                 int lag = 0);
/// A halo is renewed when the sums through it as it was are done: they find in it where contributions go.
/// `r`: a task that used its members.
void add_sums_through_halo(Model& model, TaskId renewal, const UseInRound& r, LabelId members);
/// Makes the writer of version 0 wait for the readers and the writer of the generation that it overwrites.
void add_overwritten(Model& model, TaskId writer, LabelId label, int depth);
/// The only scope in which a label exists, if each round makes and uses up all its versions; else none.
[[nodiscard]] ScopeId scope_of_temporary(Model& model, LabelId label);
/// Makes `to` wait for `reach`, unless that is implied.
void add_edge(Model& model, TaskId to, const UseInRound& reach, UseOfTask through, bool backward,
              LabelId label);

}  // namespace strata::graph::resolving
