// New owners near the present ones: no more patches move than costs ask for.
#pragma once

#include <span>

#include "core/balance/grouping.hpp"

namespace strata::balance {

/// Owners in which no process has more than (1 + `tolerance`) times the mean cost, or more than the dearest
/// patch costs, as far as single moves get there. `costs` in seconds of a step, or any other unit; `now`:
/// [patch] -> process; `per_byte`: what a byte between processes costs in that unit.
///
/// Patches leave the most loaded process one by one, for a process that they exchange data with or for the
/// least loaded one. Each time the move is made by which the cost above the limit falls most, in giver and
/// taker together, less what it adds to bytes between processes: so few dear patches move rather than many
/// cheap ones, and of equal ones those at the edge of a process's part. Of equal moves the lowest patch's is
/// made, to the lowest process. No patch moves twice. (Diffusion after Schloegel, Karypis and Kumar,
/// "Multilevel diffusion schemes for repartitioning of adaptive meshes", 1997; but straight to the taker,
/// since any process can take any patch.) O(moves x patches of a process x exchanges of a
/// patch).
///   Example: costs 1 1 1 1 4, owners 0 0 0 0 0, two processes: the dear patch goes to process 1, alone.
[[nodiscard]] Owners repaired(std::span<const double> costs, std::span<const Exchanged> exchanged, Owners now,
                              int processes, double per_byte, double tolerance = 0.02);

}  // namespace strata::balance
