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
struct Reader {
    int task = -1, use = -1;
};

/// A version of a label as one scope counts them.
struct Value {
    int task = -1, use = -1;  // who makes it,
    int scope = -1;           // or: which inner scope, as a whole. Neither: it was there before (version 0)
    std::vector<Reader> readers;  // of this scope
    std::vector<int> scopes;      // inner scopes whose rounds begin with it
};

/// The versions of a label in a scope.
struct Timeline {
    int scope = -1, label = -1;
    std::vector<Value> values;  // [version]
    int taken = 0;              // the version of the scope around that a first round begins with
    bool enters = false;        // something reads what was there before the scope's first round
    struct Earlier {
        Reader reader;
        int back;
    };
    std::vector<Earlier> earlier;  // who reads generations of rounds before, where this is the label's home
    [[nodiscard]] int last() const { return static_cast<int>(values.size()) - 1; }
};

/// Before, with the scope whose rounds `lag` counts, and why.
struct Edge {
    Before before;
    int level = 0, level_lag = 0;
    int label = -1;
};

/// A task, with its use and when it was, as found by readers_of() and writers_of().
struct Reach {
    int task = -1, use = -1;
    int level = 0, lag = 0;  // so many rounds of that scope ago
};

/// What a use of a resolved task does.
struct Part {
    Access access = Access::need;
    int label = -1;
    int version = 0;  // as the task's scope counts; of a previous(): -1
    int back = 0;
    const Relation* relation = nullptr;
    Int3 width{};
    Reader contribution;  // combine, reduce: whose
};

struct Relocated {
    int task = -1;            // in Resolved::tasks
    std::vector<int> tasks;   // of the scope and within it that use labels of the set,
    std::vector<bool> after;  // and whether they see what is there afterwards
    std::vector<int> moved;   // labels
};

struct Model {
    explicit Model(const Graph& graph, Resolved& out) : graph(graph), out(out) {}

    const Graph& graph;
    Resolved& out;
    std::vector<int> labels_by_name, tasks_by_name;
    std::vector<std::vector<Part>> parts;  // [resolved task]
    std::vector<Timeline> timelines;
    std::vector<int> timeline_at;          // [label * scopes + scope], -1
    std::vector<int> home;                 // [label] whose rounds are its generations, -1: it has none
    std::vector<int> sum_of;               // [label * scopes + scope]: the combination or reduction there, -1
    std::vector<std::vector<Edge>> edges;  // [resolved task]
    std::vector<Relocated> relocated;

    [[nodiscard]] const LabelInfo& label(int id) const {
        return graph.labels()[static_cast<std::size_t>(id)];
    }
    [[nodiscard]] const Scope& scope(int id) const { return graph.scopes()[static_cast<std::size_t>(id)]; }
    [[nodiscard]] int scopes() const { return static_cast<int>(graph.scopes().size()); }
    [[nodiscard]] std::size_t key(int scope, int label) const {
        return static_cast<std::size_t>(label) * graph.scopes().size() + static_cast<std::size_t>(scope);
    }
    [[nodiscard]] ResolvedTask& task(int id) const { return out.tasks[static_cast<std::size_t>(id)]; }
    [[nodiscard]] std::vector<Part>& parts_of(int task) { return parts[static_cast<std::size_t>(task)]; }
    [[nodiscard]] const std::vector<Part>& parts_of(int task) const {
        return parts[static_cast<std::size_t>(task)];
    }
    [[nodiscard]] const Part& part(const Reader& of) const {
        return parts_of(of.task)[static_cast<std::size_t>(of.use)];
    }
    /// Null where the label does not exist in the scope.
    [[nodiscard]] Timeline* timeline(int scope, int label) {
        const int at = timeline_at[key(scope, label)];
        return at < 0 ? nullptr : &timelines[static_cast<std::size_t>(at)];
    }
    [[nodiscard]] bool inside(int scope, int ancestor) const {
        while (scope >= 0 && scope != ancestor)
            scope = graph.scopes()[static_cast<std::size_t>(scope)].parent();
        return scope == ancestor;
    }
    /// The scope directly in `ancestor` that contains `scope`; -1 where they are the same.
    [[nodiscard]] int child_of(int ancestor, int scope) const;
    [[nodiscard]] int common_scope(int a, int b) const;
    /// Its versions may be skipped as a whole.
    [[nodiscard]] bool may_not_run(int s) const { return scope(s).form() == Scope::Form::when; }

    [[nodiscard]] bool in_processes(int t) const {
        const int body = task(t).task;
        return body >= 0 && graph.tasks()[static_cast<std::size_t>(body)].runs == Runs::in_processes;
    }
    /// For messages: "task 'diffuse'", "the sum of 'mass'".
    [[nodiscard]] std::string say(int task) const;
    [[nodiscard]] std::string say_scope(int s) const { return fmt::format("scope '{}'", scope(s).name()); }
    [[nodiscard]] std::string say(int label, int version) const;
    [[nodiscard]] Error refuse(const std::string& why) const {
        return Error(fmt::format("graph '{}': {}", graph.name(), why));
    }
};

/// Refuses declarations that can be judged alone: families, relations, widths, bodies.
void check_tasks(const Graph& graph);
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
[[nodiscard]] std::vector<Reach> readers_of(Model& model, int scope, int label, int v, int lag = 0,
                                            int but = -1);
/// Who wrote it.
[[nodiscard]] std::vector<Reach> writers_of(Model& model, int scope, int label, int v, int lag = 0);
/// Who reads the generation that label's home begins to overwrite, and who wrote it, for the maker of version
/// 0.
void add_overwritten(Model& model, int writer, int label, int depth);
/// The only scope in which a label exists, where all it holds is made and used up in each round; or -1.
[[nodiscard]] int scope_of_temporary(Model& model, int label);
/// `to` waits for `reach`; dropped where it says nothing.
void add_edge(Model& model, int to, const Reach& reach, Reader through, bool backward, int label);

}  // namespace strata::graph::resolving
