// When patches of a run are worth moving: costs as they are measured, smoothed, and what a move must gain.
// Patches come in families, numbered from 0 in each: [family][patch].
#pragma once

#include <vector>

#include "core/balance/packing.hpp"

namespace strata::balance {

/// Takes the costs of a step, in any one unit and always of the same patches, into the smoothed `costs`:
/// `weight` of the new ones and the rest of the old. The first ones, when `costs` is empty, count whole.
void smooth(std::vector<std::vector<double>>& costs, const std::vector<std::vector<double>>& measured,
            double weight);

/// The longest process's time when `owners` have the patches.
[[nodiscard]] double longest_time(const std::vector<std::vector<double>>& costs,
                                  const std::vector<Owners>& owners, int processes);

/// Whether the longest process's time falls by the part `least_gain` at least when the patches go from the
/// owners `now` to `next`.
[[nodiscard]] bool move_pays(const std::vector<std::vector<double>>& costs, const std::vector<Owners>& now,
                             const std::vector<Owners>& next, int processes, double least_gain);

}  // namespace strata::balance
