// Parts of the assignment of patches to processes (assignment.hpp): what patches cost, what they exchange,
// ways to share them out, and the estimate by which one of these is chosen.
#pragma once

#include <vector>

#include "core/balance/grouping.hpp"
#include "core/graph/expand/assign/assignment.hpp"

namespace strata::graph::detail {

/// [family][patch] -> process.
using FamilyOwners = VectorBy<FamilyId, std::vector<int>>;

/// Of the estimated time, for leaving what is there: estimates are no better.
inline constexpr double kLeastGain = 0.05;

[[nodiscard]] int count_patches(const Graph& graph);

/// Seconds of one step on one core, as the tasks of the step declare their work: the sum over a family's
/// tasks that run on the patch. A task without declared work counts as the bytes of the values that it uses.
/// Rounds of Scope::subcycle are counted; a repeat counts as one round, since nobody knows how many there
/// will be, and as one particle in each cell counts a set, since particles come with the start.
[[nodiscard]] PatchCosts declared_costs(const Graph& graph);

/// Layers around the patches of a grid that are filled in each step.
struct Layers {
    FamilyId family;
    On on = On::cells;
    Int3 border{}, width{};
    double bytes = 0;  // of each value, for all labels and versions
};

/// Values that a patch takes through a relation in each step.
struct Transfer {
    int from = 0, to = 0;  // numbers among the patches of all families
    double bytes = 0;
    bool now = false;  // made in the same step: `to` waits for `from`
};

/// What a step exchanges between patches.
struct Exchanges {
    VectorBy<FamilyId, int> first;  // the number of a family's patch 0 among all
    std::vector<FamilyId> family;   // [number]
    std::vector<Layers> layers;
    std::vector<Transfer> transfers;
};
[[nodiscard]] Exchanges find_exchanges(const Graph& graph);

/// Bytes; each is read and written. As all such rates it only matters in proportion.
inline constexpr double kCopiedEachSecond = 4e9;

/// The estimated seconds of a step on the slowest process p:
///   sum over families f of max(own work of f, work awaited of f) + bytes copied by p / 4 GB/s.
/// The work awaited of f: the longest that another process works on those of its patches of f whose values
/// p takes in the same step. (So families that run in turn, each waiting for all of the one before, have to
/// be shared out one by one; families that run beside each other need not.) Copied are the layers around
/// p's blocks, and what p takes from other processes through relations.
[[nodiscard]] double step_time(const Graph& graph, const PatchCosts& costs, const Exchanges& exchanges,
                               const FamilyOwners& owners, int processes);

/// A grid of one zone by recursive bisection (Berger and Bokhari, "A partitioning strategy for nonuniform
/// problems on multiprocessors", 1987): patches are cut in two across their longest extent, in proportion to
/// the processes of the two halves. Where whole layers do not divide evenly, a layer is divided by the next
/// longest extent. [patch] -> process
[[nodiscard]] std::vector<int> cut_across(const Grid& grid, const std::vector<double>& costs, int processes);

/// Along order(), or grids by cut_across().
enum class Cut : std::uint8_t { along, across };
/// Each family by itself, cut into parts, one for each process. Families with fewer patches than processes
/// come last, their dearest patches first, each where it is done earliest with what it has to copy.
/// `transfers` may be empty.
[[nodiscard]] FamilyOwners share_apart(const Graph& graph, const PatchCosts& costs,
                                       const std::vector<Transfer>& transfers, int processes,
                                       Cut how = Cut::along);

/// [number] -> the place of each patch along one curve through all families, between 0 and 1, as far as the
/// costs before it reach: by Hilbert's curve through the positions of grids, and of the patches that exchange
/// data with these. Families without a position are spread along it evenly in their own order.
[[nodiscard]] std::vector<double> places_along(const Graph& graph, const PatchCosts& costs,
                                               const std::vector<Transfer>& transfers);
/// That curve, cut into one chunk for each process.
[[nodiscard]] FamilyOwners share_along(const std::vector<double>& places, const PatchCosts& costs,
                                       int processes);
/// Families with fewer patches than processes first, dearest patches first to who has least, near their place
/// along the curve; then each of the other families cut along its order(), less for who has some already.
/// Empty where there are not both kinds.
[[nodiscard]] FamilyOwners share_around(const Graph& graph, const std::vector<double>& places,
                                        const PatchCosts& costs, int processes);
/// By partition(): few bytes between processes. Processes are numbered along the curve, so that
/// neighbours mostly lie on the same node. Empty where there is no answer.
[[nodiscard]] FamilyOwners share_by_bytes(const Graph& graph, const std::vector<double>& places,
                                          const PatchCosts& costs, const Exchanges& exchanges, int processes);
/// Near the present owners: balance::repaired() of the patches of all families together. `exchanges` may be
/// empty.
[[nodiscard]] FamilyOwners share_near(const Graph& graph, const FamilyOwners& now, const PatchCosts& costs,
                                      const Exchanges& exchanges, int processes);

}  // namespace strata::graph::detail
