// Contributions to a sum: the tasks that make them, and the boxes that are added up.
#pragma once

#include <vector>

#include "core/graph/expand/stages/inputs.hpp"

namespace strata::graph::detail {

/// A use of a task that contributes.
struct Contributor {
    TaskId task;
    int use = -1;
    friend auto operator<=>(const Contributor&, const Contributor&) = default;
};
/// Of a combination or reduction, by part and name, so that the order of adding tasks does not matter.
[[nodiscard]] std::vector<Contributor> contributors(const PlanInputs& in, TaskId task);

/// Values that a task has made for another patch.
struct Contribution {
    TaskId maker;
    StorageId storage;
    SourceBox piece;
};
/// The boxes of contributions that a combination of fields adds up for each of this process's patches.
class PartsOfSum {
  public:
    PartsOfSum(const PlanInputs& in, TaskId task);
    /// In the order of adding.
    [[nodiscard]] std::vector<Contribution> of(int patch);

  private:
    using Scattered = std::vector<std::vector<SourceBox>>;  // [patch of the result]
    void scatter(const Relation& relation, TaskId maker, Scattered& into) const;

    const PlanInputs& in_;
    const LabelInfo& label_;
    const std::vector<Contributor> from_;
    std::vector<Scattered> scattered_;  // [contributor], of sums into another family
    std::vector<Grid::Meeting> met_;
};

}  // namespace strata::graph::detail
