// Compressible flow as a module of a graph.
#pragma once

#include "core/run/module/module.hpp"
#include "solvers/flow/tasks.hpp"

namespace strata::flow {

/// Its steps have one length, time.step, and there is one in each common step of a company; a steady flow
/// ends at no time that is known before, so it has no company.
class FlowModule : public graph::Module {
  public:
    [[nodiscard]] About about() const override { return {kSolver, kSummary}; }
    void keys(graph::CaseSchema& keys) override { declare_keys(keys, settings_); }
    void prepare(const graph::CaseSchema& keys) override {
        check(settings_, keys);
        keys_ = &keys;
    }
    [[nodiscard]] graph::Solver declare(const graph::ModuleGraph& part) override;

  private:
    Settings settings_;
    const graph::CaseSchema* keys_ = nullptr;  // for what only grids and files tell of a case
};

}  // namespace strata::flow
