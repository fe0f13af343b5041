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

/// A box of one patch's contributions that another patch adds up.
struct SumPart {
    TaskId maker;
    StorageId windows;
    int from = -1;
    Box box;       // in the receiving patch's indices
    Int3 shift{};  // from the contributing patch's indices to those
};
/// The boxes that a combination of fields adds up for a patch, in the order of adding. `from`: of
/// contributors().
[[nodiscard]] std::vector<SumPart> parts_of_sum(const PlanInputs& in, TaskId task,
                                                const std::vector<Contributor>& from, int patch);

}  // namespace strata::graph::detail
