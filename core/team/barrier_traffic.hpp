// The number of cache lines that a barrier moves, counted and not timed, on any machine that can be
// described.
#pragma once

#include <cstdint>
#include <span>

#include "core/team/barrier.hpp"

namespace strata::team {

/// Lines that one barrier moves, by how far apart giver and taker are, and how crowded its lines are.
struct Traffic {
    std::int64_t within_cache = 0, within_domain = 0, between_domains = 0;
    /// The most members that read, and that write, any one line in one barrier.
    int most_readers = 0, most_writers = 0;
    /// Transfers that follow one another on the longest way from the last arrival to the last departure.
    int longest_way = 0;

    [[nodiscard]] std::int64_t all() const { return within_cache + within_domain + between_domains; }
};

/// One barrier of this tree, in the steady state: each line is where the barrier before left it (barriers are
/// played until two have moved as many lines). Members come in `order`, e.g. {2, 0, 1}, each as far as it can
/// go before the next moves; whoever waits has read what it waits for, as one that spins has. A line comes
/// from the nearest member that has it, to whoever reads or writes it and has it not; a write takes it from
/// all others, which moves no data and is not counted. The steps are those of Barrier::wait().
///
/// Members without a cache or domain in the neighbourhood share one.
[[nodiscard]] Traffic barrier_traffic(const BarrierTree& tree, const Neighbourhood& near,
                                      std::span<const int> order);

}  // namespace strata::team
