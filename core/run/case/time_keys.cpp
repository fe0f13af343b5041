#include "core/run/case/time_keys.hpp"

namespace strata::graph {

void TimeKeys::declare_time(CaseSchema& keys, const std::string& hint,
                            std::pair<std::string, std::vector<std::string>> same_with) {
    keys.common_key("time.end", &end,
                    {.unit = "s",
                     .least = 0,
                     .above_least = true,
                     .required = true,
                     .restart = Restart::end,
                     .same_with = std::move(same_with),
                     .meaning = "when the run ends"});
    keys.key("time.cfl", &cfl, {.least = 0, .most = most, .above_least = true, .meaning = about + hint});
    keys.key("time.longest", &longest,
             {.unit = "s", .least = 0, .meaning = "the longest step; 0: as long as is stable"});
}

const double* TimeKeys::steered_cfl(Graph& graph) const {
    return graph.parameter({.name = "cfl", .about = about, .value = cfl, .least = 1e-3, .most = most});
}

}  // namespace strata::graph
