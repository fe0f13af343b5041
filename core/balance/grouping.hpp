// Packing with connectivity: patches that exchange data prefer the same process.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/balance/packing.hpp"
#include "core/balance/space_curve.hpp"

namespace strata::balance {

/// Two patches that exchange data: `bytes` in each step, both ways together.
struct Exchanged {
    int a, b;
    double bytes;
};

/// An axis-parallel box, low <= high in each coordinate.
struct Box {
    Point low, high;
};

/// All pairs of boxes that overlap (touching counts), a < b, ascending. `bytes` is left at 1, since a test
/// for overlap gives no amounts. Sorted along one axis and swept: O(n log n + pairs that overlap along that
/// axis).
[[nodiscard]] std::vector<Exchanged> overlaps(std::span<const Box> boxes);

/// Bytes between patches of different processes.
[[nodiscard]] double bytes_between(std::span<const Exchanged> exchanged, const Owners& owners);

/// The rule for the choice among the connected processes with room for a patch.
enum class Preference {
    connected,  ///< the least loaded: amounts of data do not count
    bytes,      ///< the one with the most data to exchange
};

/// Gives away patches, largest first, each to a connected process with room for it: load + cost <= speed x
/// `limit`. Where there is none, the patch goes to the process that finishes it earliest. With
/// Preference::connected this is the grouping of OVERFLOW-D, a bin packing with a test for overlap
/// "regardless of the size of the boundary data" (Djomehri, Biswas and Lopez-Benitez, "Load balancing
/// strategies for multi-block overset grid applications", 2003; Biswas et al. 2005, section 3.5). O(n (log n
/// + kinds log m) + exchanges).
[[nodiscard]] Owners pack_connected(std::span<const double> costs, std::span<const double> speeds,
                                    std::span<const Exchanged> exchanged, double limit,
                                    Preference preference);

}  // namespace strata::balance
