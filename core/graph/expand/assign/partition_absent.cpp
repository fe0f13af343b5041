#include "core/graph/expand/assign/partition.hpp"

namespace strata::graph::detail {

bool can_partition() { return false; }

std::optional<balance::Owners> partition(std::span<const double> /*costs*/,
                                         std::span<const balance::Exchanged> /*exchanged*/, int /*parts*/) {
    return std::nullopt;
}

}  // namespace strata::graph::detail
