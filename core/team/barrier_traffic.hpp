// The number of cache lines that a barrier moves, counted and not timed, on any machine that can be
// described.
#pragma once

#include <cstdint>
#include <span>

#include "core/team/barrier.hpp"

namespace strata::team {

/// Lines that one barrier moves, by the distance from giver to taker, and the contention on its lines.
struct Traffic {
    std::int64_t within_cache = 0, within_domain = 0, between_domains = 0;
    /// The most members that read, and that write, any one line in one barrier.
    int most_readers = 0, most_writers = 0;
    /// Transfers in a row on the longest path from the last arrival to the last departure.
    int longest_way = 0;

    [[nodiscard]] std::int64_t all() const { return within_cache + within_domain + between_domains; }
};

/// Counts one barrier of this tree in the steady state: each line is where the barrier before left it
/// (barriers are simulated until two in a row move as many lines). Members arrive in `order`, e.g. {2, 0, 1},
/// each going on as far as it can before the next moves. A member that waits has read the word that it waits
/// for, as it would by spinning. A reader or writer without the line gets it from the nearest member that has
/// it. A write takes it from all others, which moves no data and is not counted. The steps are those of
/// Barrier::wait().
///
/// Members without a cache or domain in the neighbourhood share one.
[[nodiscard]] Traffic barrier_traffic(const BarrierTree& tree, const Neighbourhood& near,
                                      std::span<const int> order);

}  // namespace strata::team
