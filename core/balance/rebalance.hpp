// When patches of a run are worth moving: costs as they are measured, smoothed, and what a move must gain.
#pragma once

#include <vector>

#include "core/balance/packing.hpp"

namespace strata::balance {

struct RebalanceRule {
    /// Patches move when the longest process's time falls by this part at least.
    double least_gain = 0.05;
    /// The weight of a new measurement in the smoothed cost; the first one counts whole.
    double weight = 0.5;
};

/// Follows one run. Patches come in families, numbered from 0 in each: [family][patch].
class Rebalancer {
  public:
    explicit Rebalancer(RebalanceRule rule = {}) : rule_(rule) {}

    /// The cost of each patch in a step, in any one unit; always of the same patches.
    void observe(const std::vector<std::vector<double>>& costs);
    /// Smoothed exponentially.
    [[nodiscard]] const std::vector<std::vector<double>>& costs() const { return costs_; }
    /// The longest process's time when `owners` have the patches.
    [[nodiscard]] double longest(const std::vector<Owners>& owners, int processes) const;
    /// Whether moving the patches from the owners `now` to `next` gains enough.
    [[nodiscard]] bool pays(const std::vector<Owners>& now, const std::vector<Owners>& next,
                            int processes) const;

  private:
    RebalanceRule rule_;
    std::vector<std::vector<double>> costs_;
};

}  // namespace strata::balance
