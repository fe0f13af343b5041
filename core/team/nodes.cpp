#include "core/team/nodes.hpp"

#include <algorithm>

namespace strata::team {

std::pair<int, int> Nodes::location_of(int rank) const {
    const std::vector<int>& first = first_ranks();
    const auto above = std::upper_bound(first.begin(), first.end(), rank);
    const auto node = static_cast<int>(above - first.begin()) - 1;
    return {node, rank - first[static_cast<std::size_t>(node)]};
}

int Nodes::fewest() const {
    const std::vector<int>& first = first_ranks();
    int fewest = first[1] - first[0];
    for (std::size_t node = 1; node + 1 < first.size(); ++node)
        fewest = std::min(fewest, first[node + 1] - first[node]);
    return fewest;
}

}  // namespace strata::team
