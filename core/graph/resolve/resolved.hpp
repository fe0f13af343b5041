// A graph whose declarations have been understood: which task makes what each other one needs, which storage
// every version has, and what must come before what. Says nothing of patches: that is core/graph/expand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/declare/graph.hpp"

namespace strata::graph {

/// Memory for versions of labels of one shape on all patches: `depth` buffers that are used in turn, one each
/// round of `scope`. Versions whose lives do not meet share a storage.
struct Storage {
    LabelId label;  // whose shape it has; all labels in it have the same
    std::vector<LabelId> labels;
    int depth = 1;
    ScopeId scope = kStart;  // whose rounds turn it (depth > 1)
    Int3 ghosts{};           // the widest that anybody reads in place
    bool kept = false;  // holds values from one step to the next: written to checkpoints, moved with patches
    bool contributions = false;  // private windows of a sum, `ghosts` wide
};

/// That something waits for task `task`, `lag` rounds of that task's scope ago. (Of a scope beside or within
/// the waiting task's: 0, which is what that scope has done by now, however many rounds those were.) Nothing
/// waits for the start scope: all of it is done, in all processes, before the first step.
struct Before {
    TaskId task;
    int lag = 0;
    /// Through which use of which resolved task patches correspond: data goes from `task`'s patches to this
    /// task's patches (forward), or was read by `task` from this one's (backward: it may be overwritten when
    /// all who read it have done so). Use -1: patch by patch (backward: of what is written twice). A sum's
    /// use tells which patches meet: from who contributes to the combination, and back. A use of a scalar, or
    /// of or by a task in processes: from all patches (of the process) to all.
    TaskId through_task;
    int through_use = -1;
    bool backward = false;
    friend bool operator==(const Before&, const Before&) = default;
};

/// A use with its storage.
struct ResolvedUse {
    LabelId label;
    StorageId storage;
    int back = 0;     // which buffer: so many rounds of Storage::scope ago
    int version = 0;  // as counted in the label's scope, for messages
    // The task whose version it is (of contributions: who made them), in this round or, where nothing made it
    // in this one, an earlier one; none: the start scope.
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
    /// body: one for each declared use, in its order. combine, reduce: what is made, then the contributions,
    /// in the order in which they are added up (by name of the task that made them). relocate: the labels
    /// that move (position and id among them), by name; those of the set that nobody needs afterwards do not.
    std::vector<ResolvedUse> uses;
    std::vector<Before> before;  // without repetition, and without what others imply
    bool movers_named = false;   // relocate: tasks that change positions name the particles to look at
    double rank = 0;             // cost of the longest way from here to the round's end
};

/// One of the two.
struct TaskOrScope {
    TaskId task;
    ScopeId scope;
    friend auto operator<=>(const TaskOrScope&, const TaskOrScope&) = default;
};

/// A scope with what it runs, in an order that suits all declarations.
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
    std::vector<TaskId> critical_path;  // tasks of one step
    std::vector<std::string> warnings;  // what is declared and never used
};

/// Works it out. Throws Error that names tasks and labels: two makers of a version, a need that nobody makes,
/// a cycle (with its way), a history that is not kept, ghosts wider than a patch, a relation between
/// other families, a version beyond the last, an inner scope's label read outside before it is made,
/// ... Never depends on the order in which tasks were added.
[[nodiscard]] Resolved resolve(const Graph& graph);

}  // namespace strata::graph
