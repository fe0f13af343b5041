// Heat conduction and advection as a module of a graph.
#pragma once

#include "core/run/module/module.hpp"
#include "solvers/transport/tasks.hpp"

namespace strata::transport {

/// Its stage: "moved on", when T has the step's value.
class Transport : public graph::Module {
  public:
    [[nodiscard]] About about() const override { return {kSolver, kSummary}; }
    void keys(graph::CaseSchema& keys) override { declare_keys(keys, settings_); }
    void prepare(const graph::CaseSchema& keys) override { check(settings_, keys); }
    void labels(const graph::ModuleGraph& part) override { labels_ = make_labels(part, settings_); }
    [[nodiscard]] graph::Solver declare(const graph::ModuleGraph& part) override;

    [[nodiscard]] const Settings& settings() const { return settings_; }
    /// After labels().
    [[nodiscard]] const Labels& labels() const { return labels_; }
    /// Another module changes T. Then nothing is said of an exact solution, and not that T is conserved: what
    /// it gives and takes is for that module to account for.
    void changed_by_others() { changed_ = true; }

  private:
    Settings settings_;
    Labels labels_;
    bool changed_ = false;
};

}  // namespace strata::transport
