// Decides when moving patches of a run pays: measured costs, smoothed, and the least gain of a move. Patches
// belong to families, and are numbered from 0 in each: [family][patch].
#pragma once

#include <vector>

#include "core/balance/packing.hpp"

namespace strata::balance {

/// Adds the costs of a step, in any unit and always of the same patches, to the smoothed `costs`: the new
/// ones with weight `weight`, the old ones with the rest. The first ones, when `costs` is empty, have weight
/// 1.
///   Example: weight 0.5, old 8, measured 4: the cost is 6.
void smooth(std::vector<std::vector<double>>& costs, const std::vector<std::vector<double>>& measured,
            double weight);

/// The longest process's time with these owners of the patches.
[[nodiscard]] double longest_time(const std::vector<std::vector<double>>& costs,
                                  const std::vector<Owners>& owners, int processes);

/// Whether the longest process's time falls by at least the part `least_gain` when the patches go from the
/// owners `now` to `next`.
[[nodiscard]] bool move_pays(const std::vector<std::vector<double>>& costs, const std::vector<Owners>& now,
                             const std::vector<Owners>& next, int processes, double least_gain);

}  // namespace strata::balance
