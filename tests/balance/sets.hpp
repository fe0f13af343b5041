// Small random sets, the same on every machine, and what exhaustive search says of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/balance/packing.hpp"

namespace strata::tests {

inline int pick(std::mt19937_64& random, int least, int most) {
    return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
}

inline std::vector<double> whole_costs(std::mt19937_64& random, int patches, int most = 100) {
    std::vector<double> costs;
    for (int i = 0; i < patches; ++i) costs.push_back(pick(random, 1, most));
    return costs;
}

/// Tries every assignment.
inline double shortest_of_all(const std::vector<double>& costs, const std::vector<double>& speeds) {
    balance::Owners owners(costs.size(), 0);
    double shortest = std::numeric_limits<double>::infinity();
    while (true) {
        shortest = std::min(shortest, balance::longest_time(costs, owners, speeds));
        size_t i = 0;
        while (i < owners.size() && ++owners[i] == static_cast<int>(speeds.size())) owners[i++] = 0;
        if (i == owners.size()) return shortest;
    }
}

}  // namespace strata::tests
