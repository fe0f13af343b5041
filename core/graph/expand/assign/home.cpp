#include "core/graph/expand/assign/home.hpp"

namespace strata::graph {

std::vector<int> home_threads(const Family& family, const std::vector<int>& patches, int threads) {
    std::vector<int> home(patches.size(), 0);
    if (threads < 2) return home;
    const std::vector<int> order = family.order();
    std::vector<int> local(order.size(), -1);
    for (std::size_t i = 0; i < patches.size(); ++i)
        local[static_cast<std::size_t>(patches[i])] = static_cast<int>(i);
    std::size_t along = 0;
    for (const int patch : order)
        if (const int i = local[static_cast<std::size_t>(patch)]; i >= 0)
            home[static_cast<std::size_t>(i)] =
                static_cast<int>(along++ * static_cast<std::size_t>(threads) / patches.size());
    return home;
}

}  // namespace strata::graph
