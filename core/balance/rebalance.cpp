#include "core/balance/rebalance.hpp"

#include <algorithm>

namespace strata::balance {

void smooth(std::vector<std::vector<double>>& costs, const std::vector<std::vector<double>>& measured,
            double weight) {
    if (costs.empty()) {
        costs = measured;
        return;
    }
    for (size_t f = 0; f < measured.size(); ++f)
        for (size_t p = 0; p < measured[f].size(); ++p)
            costs[f][p] = weight * measured[f][p] + (1 - weight) * costs[f][p];
}

double longest_time(const std::vector<std::vector<double>>& costs, const std::vector<Owners>& owners,
                    int processes) {
    std::vector<double> times(static_cast<size_t>(processes), 0.0);
    for (size_t f = 0; f < costs.size(); ++f)
        for (size_t p = 0; p < costs[f].size(); ++p) times[static_cast<size_t>(owners[f][p])] += costs[f][p];
    return *std::max_element(times.begin(), times.end());
}

bool move_pays(const std::vector<std::vector<double>>& costs, const std::vector<Owners>& now,
               const std::vector<Owners>& next, int processes, double least_gain) {
    const double before = longest_time(costs, now, processes);
    return before > 0 && longest_time(costs, next, processes) <= before * (1 - least_gain);
}

}  // namespace strata::balance
