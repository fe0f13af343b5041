// Meshes that overlap, in the flow solver: which cells are computed, and what receptors get.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/graph/declare/graph.hpp"
#include "methods/overset/connectivity.hpp"
#include "solvers/flow/output/known.hpp"

namespace strata::flow {

/// Of a grid of a case with meshes that overlap. A coarser grid of a multigrid cycle has no connectivity of
/// its own: a cell is computed where all of which it consists are.
struct OversetLabels {
    std::unique_ptr<overset::Problem> problem;
    std::optional<overset::Connectivity> found;
    std::optional<overset::Interpolated> q, nu_tilde;  // the state of the step before at receptors

    /// Meshes that move: cells that come out of holes where no other mesh knew the flow.
    struct Unknown {
        graph::Scalars<std::int64_t> counts, first;  // [zone] in this step; the lowest
        graph::Scalar<double> so_far;                // in all steps
    };
    std::optional<Unknown> unknown;

    // Of steady flow (overset_balance.hpp): faces of each computed cell beyond which none is, as bits (2 axis
    // + upper); and mass flows through them.
    std::optional<graph::Field<std::int32_t>> edges;
    std::optional<graph::Scalars<double>> flows;

    std::optional<graph::Field<std::int32_t>> held;  // of a cycle's coarser grid: Cell::computed, or a hole

    [[nodiscard]] graph::Field<std::int32_t> status() const { return found ? found->status : *held; }
};

/// What a task knows of the cells of its patch; of a case with one mesh all are computed.
class CellsComputed {
  public:
    CellsComputed() = default;
    CellsComputed(const std::shared_ptr<OversetLabels>& labels, graph::Task& task,
                  const graph::Ghosts& around = graph::ghosts(0))
        : some_(labels != nullptr) {
        if (!some_) return;
        status_ = task.need(labels->status(), around);
        shared_ = labels->found && labels->found->share;
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
        return knowledge(here, cell) != Known::nothing;
    }
    /// Beyond boundaries it is that of the image, which is as well known as its cell.
    [[nodiscard]] Known knowledge(const graph::Here& here, const graph::Int3& cell) const {
        return some_ ? knowledge(status(here), cell) : Known::computed;
    }
    /// The same where it is asked of many cells: `status` as status() gives it.
    [[nodiscard]] static Known knowledge(const graph::FieldView<const std::int32_t>& status,
                                         const graph::Int3& cell) {
        const graph::Box box = status.box();
        graph::Int3 at = cell;
        for (std::size_t a = 0; a < 3; ++a) at[a] = std::clamp(at[a], box.lo[a], box.hi[a] - 1);
        switch (static_cast<overset::Cell>(status(at[0], at[1], at[2]))) {
            case overset::Cell::computed:
                return Known::computed;
            case overset::Cell::receptor:
            case overset::Cell::orphan:
                return Known::interpolated;
            default:
                return Known::nothing;  // a hole, or no cell at all
        }
    }

  private:
    bool some_ = false, shared_ = false;
    graph::FieldUse<const double> share_{};
    graph::FieldUse<const std::int32_t> status_{};
};

/// How many cells of a grid are computed.
class CellsCounted {
  public:
    CellsCounted() = default;
    CellsCounted(const std::shared_ptr<OversetLabels>& labels, std::int64_t all, graph::Task& task)
        : all_(static_cast<double>(all)), some_(labels != nullptr && labels->found) {
        if (some_) counts_ = task.need(labels->found->counts.last());
    }
    [[nodiscard]] double in(const graph::Here& here) const {
        if (!some_) return all_;
        std::int64_t computed = 0;
        const auto counts = here[counts_];
        for (std::int64_t n = overset::kComputed; n < static_cast<std::int64_t>(counts.size());
             n += overset::kCounts)
            computed += counts[n];
        return static_cast<double>(std::max<std::int64_t>(1, computed));
    }

  private:
    double all_ = 1;
    bool some_ = false;
    graph::ScalarsUse<const std::int64_t> counts_{};
};

/// For outputs, which know nothing of connectivity.
[[nodiscard]] inline KnownOf known_of(const std::shared_ptr<OversetLabels>& labels) {
    if (labels == nullptr) return {};
    return [labels](graph::Task& task, const graph::Ghosts& around) {
        return
            [computed = CellsComputed(labels, task, around)](
                const graph::Here& here, const graph::Int3& cell) { return computed.knowledge(here, cell); };
    };
}

}  // namespace strata::flow
