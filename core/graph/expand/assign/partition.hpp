// Partition of a graph by METIS, where the build has found it.
#pragma once

#include <optional>
#include <span>

#include "core/balance/grouping.hpp"

namespace strata::graph::detail {

/// Whether partition() can answer: the build has found METIS.
[[nodiscard]] bool can_partition();

/// Shares patches out to `parts` processes with nearly equal sums of costs (within a few per cent, where
/// patches are small) and few bytes between processes: METIS's k-way method (Karypis and Kumar, "A fast and
/// high quality multilevel scheme for partitioning irregular graphs", 1998) with a fixed seed, so the same
/// call gives the same answer. Costs are >= 0, in any unit; a pair of patches may be named several times.
/// Nothing without METIS, and where METIS fails.
///
/// METIS draws from the C library's rand(), and sets its seed. So one thread alone may call this, and results
/// of several processes need not agree: one process calls it for all.
[[nodiscard]] std::optional<balance::Owners> partition(std::span<const double> costs,
                                                       std::span<const balance::Exchanged> exchanged,
                                                       int parts);

}  // namespace strata::graph::detail
