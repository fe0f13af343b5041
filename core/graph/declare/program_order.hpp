// Program order: which version a label alone means, where tasks are declared in the order in which a program
// would run them (Graph::in_program_order). Tasks, scopes and relocations are noted here as they are
// declared.
#pragma once

#include "core/graph/declare/graph.hpp"

namespace strata::graph {

class ProgramOrder {
  public:
    explicit ProgramOrder(Graph& graph) : graph_(&graph) {}

    /// The newest version of the label in the scope; 0 where nothing was declared of it.
    [[nodiscard]] int newest(const Scope& scope, LabelId label);
    /// A task declares a use. Throws Error where it makes what an earlier task of the scope has needed by the
    /// label alone: that task would run after this one.
    void declared(const TaskInfo& task, const Use& use);
    /// A scope relocates a set: its labels have their next version.
    void relocated(const Scope& scope, SetId set);

  private:
    struct Newest {
        int version = 0;
        int taken = 0;         // the version of the scope around with which this scope begins
        bool entered = false;  // it was decided which one that is
        bool written = false;  // some version was made or modified in this scope or an inner one
        TaskId needed;         // the first task that needed version 0 before that
    };
    [[nodiscard]] Newest& of(ScopeId scope, LabelId label);
    [[nodiscard]] Newest& entered(ScopeId scope, LabelId label);
    /// The scope and those around it: to each, what happens in an inner scope is one modification.
    void written(ScopeId scope, LabelId label, int version);

    Graph* graph_;
    VectorBy<ScopeId, VectorBy<LabelId, Newest>> all_;
};

}  // namespace strata::graph
