// Patches in the order of a space-filling curve, cut into contiguous chunks: neighbours in space stay mostly
// together.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/balance/packing.hpp"

namespace strata::balance {

/// Coordinates in any unit, x y z.
using Point = std::array<double, 3>;

/// The position of a cell on Hilbert's curve through 2^21 cells a side (Skilling, "Programming the Hilbert
/// curve", 2004). Each coordinate is below 2^21. Cells at consecutive positions differ by one step along one
/// axis.
[[nodiscard]] std::uint64_t hilbert_place(std::array<std::uint32_t, 3> cell);

/// Indices of the points along Hilbert's curve through their bounding cube; equal ones in their own order.
[[nodiscard]] std::vector<int> hilbert_order(std::span<const Point> points);

/// Cuts a sequence of costs into speeds.size() contiguous chunks, the p-th for the process of speeds[p], with
/// the least possible longest time. It is exact (Pinar and Aykanat, "Fast optimal load balancing algorithms
/// for 1D partitioning", 2004, exact bisection; for unequal speeds in the given order the greedy probe is
/// still exact). Chunks may be empty. Returns the process of each element of the sequence. O(probes m log n).
[[nodiscard]] Owners split_sequence(std::span<const double> costs, std::span<const double> speeds);

}  // namespace strata::balance
