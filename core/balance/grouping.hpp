// Packing with connectivity: patches that exchange data prefer the same process.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/balance/packing.hpp"
#include "core/balance/space_curve.hpp"

namespace strata::balance {

/// Two patches that exchange data, each step `bytes` both ways together.
struct Exchanged {
    int a, b;
    double bytes;
};

/// An axis-parallel box, low <= high in each coordinate.
struct Box {
    Point low, high;
};

/// All pairs of boxes that overlap (touching counts), a < b, ascending; `bytes` is left at 1, since a test
/// for overlap says nothing of amounts. Sorted along the axis of largest extent and swept: O(n log n + pairs
/// near in that axis).
[[nodiscard]] std::vector<Exchanged> overlaps(std::span<const Box> boxes);

/// Bytes between patches of different processes.
[[nodiscard]] double bytes_between(std::span<const Exchanged> exchanged, const Owners& owners);

/// The rule that decides among the processes that a patch exchanges data with and that have room for it.
enum class Preference {
    connected,  ///< the least loaded: connected or not is all that counts
    bytes,      ///< the one it exchanges the most with
};

/// Largest first, each to a connected process with room for it: load + cost <= speed x `limit`; where there
/// is none, to the process that ends it earliest. With Preference::connected this is the grouping of
/// OVERFLOW-D, a bin packing with a test for overlap "regardless of the size of the boundary data" (Djomehri,
/// Biswas and Lopez-Benitez, "Load balancing strategies for multi-block overset grid applications", 2003;
/// Biswas et al. 2005, section 3.5). O(n (log n + kinds log m) + exchanges).
[[nodiscard]] Owners pack_connected(std::span<const double> costs, std::span<const double> speeds,
                                    std::span<const Exchanged> exchanged, double limit,
                                    Preference preference);

}  // namespace strata::balance
