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
    int label = -1;  // whose shape it has; all labels in it have the same
    std::vector<int> labels;
    int depth = 1;
    int scope = 0;      // whose rounds turn it (depth > 1)
    Int3 ghosts{};      // the widest that anybody reads in place
    bool kept = false;  // holds values from one step to the next: written to checkpoints, moved with patches
    bool contributions = false;  // private windows of a sum, `ghosts` wide
};

/// That something waits for task `task`, `lag` rounds of that task's scope ago.
struct Before {
    int task = -1;
    int lag = 0;
    /// Through which use of which task patches correspond: data goes from `task`'s patches to this task's
    /// patches (forward), or was read by `task` from this one's (backward: it may be overwritten when all who
    /// read it have done so). Use -1: patch by patch.
    int through_task = -1, through_use = -1;
    bool backward = false;
    friend bool operator==(const Before&, const Before&) = default;
};

/// A use with its storage.
struct ResolvedUse {
    int storage = -1;
    int back = 0;     // which buffer: so many rounds of Storage::scope ago
    int version = 0;  // as counted in the label's scope, for messages
    int maker = -1;   // the task whose version it is; -1: what was there before the first round
};

struct ResolvedTask {
    int task = -1;  // in Graph::tasks(); relocations and sums follow as tasks of their own
    enum class What : std::uint8_t { body, combine, reduce, relocate } what = What::body;
    int scope = 0;
    /// combine, reduce: the version that is completed. relocate: index in its scope's relocations().
    Version of;
    std::vector<ResolvedUse> uses;  // of the body, in its order
    std::vector<Before> before;     // without repetition
    double rank = 0;                // cost of the longest way from here to the round's end
};

/// A scope with what it runs, in an order that suits all declarations.
struct ResolvedScope {
    int scope = 0;
    std::vector<int> tasks;   // of Resolved::tasks
    std::vector<int> inside;  // scopes
    /// Both, in topological order: (false, task) or (true, scope).
    std::vector<std::pair<bool, int>> order;
    int decided_by = -1;  // the Resolved::tasks whose reduction ends or admits a round
};

struct Resolved {
    std::vector<ResolvedTask> tasks;
    std::vector<Storage> storages;
    std::vector<ResolvedScope> scopes;  // [Scope::id()]
    std::vector<int> critical_path;     // tasks of one step
};

/// Works it out. Throws Error that names tasks and labels: two makers of a version, a need that nobody makes,
/// a cycle (with its way), a history that is not kept, ghosts wider than what a label has or a relation
/// between other families, a version beyond the last, an inner scope's label read outside before it is made,
/// ... Never depends on the order in which tasks were added.
[[nodiscard]] Resolved resolve(const Graph& graph);

}  // namespace strata::graph
