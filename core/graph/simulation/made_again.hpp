// Objects that are made again by the tasks that made them, for patches that have come without theirs.
#pragma once

#include <vector>

#include "core/graph/simulation/simulation.hpp"

namespace strata::graph {

/// Calls the maker of each object of Resolved::made_again that a patch of this process lacks, with what it
/// needs as it is now; in a graph of these tasks alone, so that ghosts and relations are served as in a step.
/// `rounds`: of the plan's scopes so far. Collective over the members.
void make_objects_again(const Plan& plan, const std::vector<Epoch>& rounds, team::Crew* crew, int threads);

/// Has every object of Resolved::made_again that was made before be lacking, so that it is made again.
void forget_objects(const Plan& plan);

/// Whether a patch with such an object has another owner now: the same in all processes.
[[nodiscard]] bool are_objects_left_behind(const Plan& before, const Plan& now);

}  // namespace strata::graph
