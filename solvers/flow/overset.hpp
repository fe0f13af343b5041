// Meshes that overlap, in the flow solver: which cells are computed, and what receptors get.
#pragma once

#include <memory>
#include <optional>

#include "core/graph/declare/graph.hpp"
#include "solvers/overset/connectivity.hpp"

namespace strata::flow {

/// Of a case with meshes that overlap.
struct OversetLabels {
    std::unique_ptr<overset::Problem> problem;
    std::optional<overset::Connectivity> found;
    std::optional<overset::Interpolated> q, nu_tilde;  // the state of the step before at receptors

    [[nodiscard]] graph::Field<std::int32_t> status() const { return found->status; }
};

/// What a task knows of the cells of its patch; of a case with one mesh all are computed.
class CellsComputed {
  public:
    CellsComputed() = default;
    CellsComputed(const std::shared_ptr<OversetLabels>& labels, graph::Task& task)
        : some_(labels != nullptr) {
        if (!some_) return;
        status_ = task.need(labels->status());
        shared_ = labels->found->share.has_value();
        if (shared_) share_ = task.need(*labels->found->share);
    }
    [[nodiscard]] bool all() const { return !some_; }
    [[nodiscard]] graph::FieldView<const std::int32_t> status(const graph::Here& here) const {
        return here[status_];
    }
    [[nodiscard]] bool at(const graph::Here& here, const graph::Int3& cell) const {
        return !some_ ||
               here[status_](cell[0], cell[1], cell[2]) == static_cast<std::int32_t>(overset::Cell::computed);
    }
    /// What a wall face beside the cell counts in sums.
    [[nodiscard]] double share(const graph::Here& here, const graph::Int3& cell) const {
        return !at(here, cell) ? 0 : shared_ ? here[share_](cell[0], cell[1], cell[2]) : 1;
    }
    /// Whether the solution is known there: computed, or interpolated.
    [[nodiscard]] bool known(const graph::Here& here, const graph::Int3& cell) const {
        return !some_ ||
               here[status_](cell[0], cell[1], cell[2]) != static_cast<std::int32_t>(overset::Cell::hole);
    }

  private:
    bool some_ = false, shared_ = false;
    graph::FieldUse<const double> share_{};
    graph::FieldUse<const std::int32_t> status_{};
};

}  // namespace strata::flow
