// New owners of patches, by costs that were measured.
#pragma once

#include <vector>

#include "core/graph/expand/assign/assignment.hpp"

namespace strata::graph {

/// New owners by `costs`, in seconds of a step. Either the present ones `now`, of which no more patches move
/// than costs ask for (balance::repaired); or each family cut anew along its order(), families of fewer
/// patches than processes where there is least to do. The cut is taken where its slowest process is estimated
/// to need 5 % less for a step (the estimate of assign()), or no more and it moves no more patches. Of more
/// patches than kMostExchanging only loads are compared. All processes find the same by themselves: METIS is
/// not asked.
[[nodiscard]] Assignment reassign(const Graph& graph, int processes, const PatchCosts& costs,
                                  const VectorBy<FamilyId, std::vector<int>>& now);

}  // namespace strata::graph
