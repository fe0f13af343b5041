// Assigns patches to processes with a short longest time. A process has a speed (that of its threads). Its
// time is the sum of its patches' costs divided by its speed. In the literature: scheduling independent jobs
// on uniform machines, Q || Cmax.
#pragma once

#include <span>
#include <vector>

namespace strata::balance {

/// [patch] -> the process that has it.
using Owners = std::vector<int>;

/// The sum of costs of each process.
[[nodiscard]] std::vector<double> loads_of(std::span<const double> costs, const Owners& owners,
                                           int processes);

/// The longest time: max over processes of load / speed; 0 without patches.
[[nodiscard]] double longest_time(std::span<const double> costs, const Owners& owners,
                                  std::span<const double> speeds);

/// Gives away patches, largest first, each to the process that finishes it earliest. On equal processes the
/// result is at most 4/3 - 1/(3m) of the optimum (Graham, "Bounds on multiprocessing timing anomalies",
/// 1969), on unequal ones at most 2 (Gonzalez, Ibarra and Sahni, 1977). O(n (log n + kinds log m)), where
/// kinds is the number of different speeds.
[[nodiscard]] Owners pack_largest_first(std::span<const double> costs, std::span<const double> speeds);

/// First fit decreasing into bins of speed x time, slowest first, with the time bisected (Coffman, Garey and
/// Johnson, "An application of bin-packing to multiprocessor scheduling", 1978; Friesen and Langston 1983 for
/// unequal bins). Empty where no packing below `ceiling` was found. O(rounds n log m).
[[nodiscard]] Owners pack_multifit(std::span<const double> costs, std::span<const double> speeds,
                                   double ceiling);

/// Moves and exchanges patches between the longest process and others, best gain first. Ends when no exchange
/// helps, when the longest time is at most `enough`, or after `effort` candidates (a count, so that the
/// result does not depend on the clock). Never makes the longest time longer.
void improve(std::span<const double> costs, std::span<const double> speeds, Owners& owners, double enough = 0,
             long effort = 4'000'000);

/// Branch and bound over all assignments (Korf, "A complete anytime algorithm for number partitioning",
/// 1998), starting from `owners`, with at most `nodes` nodes. Returns true where the result is proven to be
/// the optimum.
bool search_optimum(std::span<const double> costs, std::span<const double> speeds, Owners& owners,
                    long nodes = 100'000);

/// The best of all methods: largest first and MULTIFIT, improved, then the search where patches are few.
[[nodiscard]] Owners pack(std::span<const double> costs, std::span<const double> speeds,
                          long effort = 4'000'000);

/// A lower bound of the longest time: the largest of three. The mean; the largest patch on the fastest
/// process; and, since two of the m + 1 largest patches share one of m processes, the two smallest of these
/// together on the fastest one.
[[nodiscard]] double packing_bound(std::span<const double> costs, std::span<const double> speeds);

/// Indices of the patches, largest first; equal ones in their own order.
[[nodiscard]] std::vector<int> largest_first(std::span<const double> costs);

}  // namespace strata::balance
