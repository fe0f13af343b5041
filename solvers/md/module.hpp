// Molecular dynamics as a module of a graph.
#pragma once

#include "core/run/module/module.hpp"
#include "solvers/md/tasks.hpp"

namespace strata::md {

/// Its steps have one length, time.step, and there is one in each common step of a company.
class Md : public graph::Module {
  public:
    [[nodiscard]] About about() const override { return {kSolver, kSummary}; }
    void keys(graph::CaseSchema& keys) override { declare_keys(keys, settings_); }
    void prepare(const graph::CaseSchema& keys) override { complete(settings_, keys); }
    [[nodiscard]] graph::Solver declare(const graph::ModuleGraph& part) override;

  private:
    Settings settings_;
    Labels labels_;
};

}  // namespace strata::md
