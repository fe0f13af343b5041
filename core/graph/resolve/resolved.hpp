// A resolved graph: for each need the task that makes it, for each version its storage, and the order that
// follows. It says nothing of patches; core/graph/expand does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/declare/graph.hpp"

namespace strata::graph {

/// Memory for versions of labels of one shape, on all patches. It has `depth` buffers, and each round of
/// `scope` writes the next one: with depth 2, step 6 writes buffer 0 while it reads step 5's in buffer 1.
/// Versions that are not needed at the same time share a storage.
struct Storage {
    LabelId label;                // the first label in it;
    std::vector<LabelId> others;  // most storages have no others; all have the same shape
    int depth = 1;
    ScopeId scope = kStart;  // the scope whose rounds count (depth > 1)
    Int3 ghosts{};           // the widest ghosts that a task reads in place
    bool kept = false;  // holds values from one step to the next: written to checkpoints, moved with patches
    bool contributions = false;      // private windows of a sum, `ghosts` wide;
    const Relation* onto = nullptr;  // of a sum into another family: the relation's, on its target's patches
    bool apart = false;              // each patch has a halo of its own, for frozen ghosts

    [[nodiscard]] std::vector<LabelId> labels() const;
    [[nodiscard]] bool holds(LabelId one) const;
};

/// A task or scope waits for task `task` of `lag` rounds ago, counted in that task's scope. For a task of a
/// scope beside or within the waiting one's, lag 0 means all rounds that the scope has done by now. Nothing
/// waits for the start scope: all processes finish it before the first step.
struct Before {
    TaskId task;
    int lag = 0;
    /// The use that says which patches correspond.
    ///   forward: data goes from `task`'s patches to the waiting task's patches;
    ///   backward: `task` read it from the waiting task's patches, and it is overwritten after all readers.
    /// Use -1: patch by patch (backward: a value that is written twice). A sum's use relates the contributing
    /// patches (of the task's family) and the combined one (of the label's). A use of a scalar, and of or by
    /// a team task, relates all patches of the process.
    TaskId through_task;
    int through_use = -1;
    bool backward = false;
    friend bool operator==(const Before&, const Before&) = default;
};

/// A use, and where its version lies.
struct ResolvedUse {
    LabelId label;
    StorageId storage;
    int back = 0;     // the buffer written so many rounds of Storage::scope ago
    int version = 0;  // as counted in the label's scope, for error messages
    // The task that made the version or the contributions, in this round or in the last one that did; none:
    // the start scope.
    TaskId maker;
};

/// The first of Resolved::tasks are Graph::tasks(), in their order; combinations, reductions and relocations
/// follow.
struct ResolvedTask {
    std::string name;
    TaskId task;  // its own id where it is one of Graph::tasks(), else none
    enum class What : std::uint8_t { body, combine, reduce, relocate } what = What::body;
    ScopeId scope = kStart;
    Version completed;    // combine, reduce: the version that it completes
    int relocation = -1;  // relocate: index in its scope's relocations()
    /// body: one for each declared use, in its order. combine, reduce: the result, then the contributions in
    /// the order of adding (adds_before). relocate: the labels that move (position and
    /// id among them), by name; labels that no task needs afterwards do not move.
    std::vector<ResolvedUse> uses;
    std::vector<Before> before;  // without repetition, and without those that others imply
    bool movers_named = false;   // relocate: tasks that change positions name the particles to look at
    double rank = 0;             // cost of the longest way from here to the round's end
};

/// A task or an inner scope; the other one is none.
struct TaskOrScope {
    TaskId task;
    ScopeId scope;
    friend auto operator<=>(const TaskOrScope&, const TaskOrScope&) = default;
};

/// A scope with its tasks and inner scopes, in an order that suits all declarations.
struct ResolvedScope {
    ScopeId scope = kStart;
    std::vector<TaskId> tasks;    // directly in it
    std::vector<ScopeId> inside;  // directly in it
    /// Both, in topological order.
    std::vector<TaskOrScope> order;
    /// repeat, when: the scalar that ends or admits a round, the task of Resolved::tasks that makes it
    /// (none: it keeps its first value) and how many rounds of that task's scope ago.
    ResolvedUse decision;
    TaskId decided_by;
    int decided_lag = 0;
};

struct Resolved {
    VectorBy<TaskId, ResolvedTask> tasks;
    VectorBy<StorageId, Storage> storages;
    VectorBy<ScopeId, ResolvedScope> scopes;
    /// Objects that live from step to step and are not packed. Where a patch comes from another process or a
    /// checkpoint, the task that made its object does so again; what it needs is kept.
    std::vector<LabelId> made_again;
    std::vector<TaskId> critical_path;  // tasks of one step
    std::vector<std::string> warnings;  // of declarations that are never used
};

/// Resolves a graph; the result never depends on the order in which tasks were added. Throws Error that names
/// tasks and labels: two makers of a version, a need that no task makes, a cycle (with its way), a history
/// that is not kept, ghosts wider than a patch, a relation between other families, a version beyond the last,
/// a label of an inner scope that is read outside before it is made, ...
[[nodiscard]] Resolved resolve(const Graph& graph);

}  // namespace strata::graph
