// Solids by the material point method as a module of a graph.
#pragma once

#include "core/run/module/module.hpp"
#include "solvers/mpm/tasks.hpp"

namespace strata::mpm {

/// Its stages. At the start: "filled", when the points are there. In the step: "begun", before anything of a
/// point has changed; "moved", when position and velocity are new and points are not yet in the order of
/// their new cells.
class Mpm : public graph::Module {
  public:
    [[nodiscard]] About about() const override { return {kSolver, kSummary}; }
    void keys(graph::CaseSchema& keys) override { declare_keys(keys, settings_); }
    void prepare(const graph::CaseSchema& keys) override { complete(settings_, keys); }
    void labels(const graph::ModuleGraph& part) override { labels_ = make_labels(part, settings_); }
    [[nodiscard]] graph::Solver declare(const graph::ModuleGraph& part) override;

    [[nodiscard]] const Settings& settings() const { return settings_; }
    /// After labels().
    [[nodiscard]] const Labels& labels() const { return labels_; }

  private:
    Settings settings_;
    Labels labels_;
};

}  // namespace strata::mpm
