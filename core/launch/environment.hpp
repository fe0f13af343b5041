// The variables that a layout sets for a program: how many threads, where, and which process it is.
#pragma once

#include <string>
#include <vector>

#include "core/launch/layout.hpp"

namespace strata::launch {

/// A change to the environment: a value, or (empty optional kept as `removed`) the variable taken away.
struct Setting {
    std::string name, value;
    bool removed = false;
};

/// Of one process: a place a thread, as OMP_PLACES has them (OpenMP 5.2, 21.1.6).
std::string omp_places(const std::vector<std::vector<int>>& threads);

/// The variables of process `index` of the placement. `rank` and `size` count over all nodes; `index` on this
/// one.
std::vector<Setting> settings_for(const Placement& placement, int index, int rank, int size);

/// The variables of any rank of a placement that binds nothing, as its plan for strata-rank (rank_plan.hpp).
std::string rank_plan(const Placement& placement);

/// The variables of a program that starts its members itself (strata::team): the layout and the whole
/// placement, and no place of its own among them.
std::vector<Setting> settings_for_team(const Placement& placement);

/// An environment ("NAME=value" each) with the settings applied.
std::vector<std::string> apply_settings(const std::vector<Setting>& settings,
                                        std::vector<std::string> environment);

/// This process' own environment.
std::vector<std::string> own_environment();

}  // namespace strata::launch
