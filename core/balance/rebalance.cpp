#include "core/balance/rebalance.hpp"

#include <algorithm>

namespace strata::balance {

void Rebalancer::observe(const std::vector<std::vector<double>>& costs) {
    if (costs_.empty()) {
        costs_ = costs;
        return;
    }
    for (size_t f = 0; f < costs.size(); ++f)
        for (size_t p = 0; p < costs[f].size(); ++p)
            costs_[f][p] = rule_.weight * costs[f][p] + (1 - rule_.weight) * costs_[f][p];
}

double Rebalancer::longest(const std::vector<Owners>& owners, int processes) const {
    std::vector<double> times(static_cast<size_t>(processes), 0.0);
    for (size_t f = 0; f < costs_.size(); ++f)
        for (size_t p = 0; p < costs_[f].size(); ++p)
            times[static_cast<size_t>(owners[f][p])] += costs_[f][p];
    return *std::max_element(times.begin(), times.end());
}

bool Rebalancer::pays(const std::vector<Owners>& now, const std::vector<Owners>& next, int processes) const {
    const double before = longest(now, processes);
    return before > 0 && longest(next, processes) <= before * (1 - rule_.least_gain);
}

}  // namespace strata::balance
