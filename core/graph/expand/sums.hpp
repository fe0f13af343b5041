// Contributions to a sum: the tasks that make them, and the boxes that are added up.
#pragma once

#include <vector>

#include "core/graph/expand/inputs.hpp"

namespace strata::graph::detail {

/// A use of a task that contributes.
struct Contributor {
    TaskId task;
    int use = -1;
    friend auto operator<=>(const Contributor&, const Contributor&) = default;
};
/// Of a combination or reduction, by name, so that the order of adding tasks does not matter.
[[nodiscard]] std::vector<Contributor> contributors(const PlanInputs& in, TaskId task);

/// Values that a task has made for another patch.
struct Transfer {
    TaskId maker;
    StorageId storage;
    SourceBox piece;
};
/// The boxes of contributions that a combination of fields adds up for a patch, in the order of adding.
/// `from`: of contributors().
[[nodiscard]] std::vector<Transfer> parts_of_sum(const PlanInputs& in, TaskId task,
                                                 const std::vector<Contributor>& from, int patch);

}  // namespace strata::graph::detail
