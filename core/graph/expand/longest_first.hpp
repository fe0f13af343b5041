// Of a task's operations in a thread's list, those on the dearest patches go first: a long one that started
// last would be waited for.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/execute/program.hpp"
#include "core/graph/expand/assign/assignment.hpp"

namespace strata::graph {

/// [family][patch] -> 0 for a cost below twice the mean of the family's patches in this process, 1 from twice
/// on, 2 from four times on, and so on; 0 for other processes' patches. So small differences change no order:
/// neighbours along a list find each other's values in a cache.
using CostClasses = VectorBy<FamilyId, std::vector<std::uint8_t>>;
/// `costs`: [family][patch], in any unit.
[[nodiscard]] CostClasses cost_classes(const VectorBy<FamilyId, std::vector<double>>& costs,
                                       const OwnPatches& own);

/// Orders the program of one plan.
class LongestFirst {
  public:
    /// Puts the operations of a task that follow each other in a thread's list into the order of their
    /// patches' classes; those of a class are ordered as at first. Tasks with an order of their own (sweeps)
    /// keep it. Returns whether anything has changed: an executor of the program is then to be made anew.
    bool order(Program& program, const Graph& graph, CostClasses classes);

  private:
    CostClasses classes_;               // by which the program is ordered
    std::vector<std::uint32_t> place_;  // [operation] -> its place at first; empty before the first call
};

}  // namespace strata::graph
