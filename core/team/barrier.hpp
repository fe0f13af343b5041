// The barrier of a team: no member leaves before all have arrived.
//
// Up to kFanIn members notify each other. For a power of two of them: in round k members i and i xor 2^k, in
// one line that both write (E. D. Brooks, "The butterfly barrier", International Journal of Parallel
// Programming 15, 1986), so that one transfer of a line serves two members. For other numbers: member i
// notifies member i + 2^k and waits for i - 2^k (D. Hensgen, R. Finkel, U. Manber, "Two algorithms for
// barrier synchronization", the same journal 17, 1988: the dissemination barrier). A shared counter would
// take three transfers, one after the other. A phase number replaces the reversed sense of J. Mellor-Crummey
// and M. Scott ("Algorithms for scalable synchronization on shared-memory multiprocessors", ACM TOCS 9,
// 1991).
//
// More members count arrivals in a tree: first members that share a cache, then members of a domain, at most
// kFanIn on a counter. The last to arrive at each node goes on to the node above. The members that reach the
// root notify each other as above. On the way back each opens the gates of the nodes that it passed. So few
// members write a line and, for as long as possible, they share a cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/team/failure.hpp"
#include "core/team/waiting.hpp"

namespace strata::team {

/// The position of members on the machine.
struct Neighbourhood {
    int members = 1;
    /// [member] -> its cache and its domain, by any numbers; empty: not known, or not to be used.
    std::vector<int> cache, domain;
};

/// A node of the tree, also for tests and inspection.
struct BarrierNode {
    int expected = 0;  // members, or nodes below
    int parent = -1;   // -1: the root
};

/// The tree for a neighbourhood: the nodes, and for each member the one in which it arrives.
struct BarrierTree {
    std::vector<BarrierNode> nodes;  // the last one is the root
    std::vector<int> node_of_member;
    bool counted_root = false;  // the root counts too: members that reach it do not notify each other
};

/// Rounds in which `members` notify each other: the logarithm to base 2, rounded up.
[[nodiscard]] constexpr int rounds_of(int members) {
    int rounds = 0;
    while ((1 << rounds) < members) ++rounds;
    return rounds;
}

/// The line by which slot `from` notifies another one in a round, and the one of its two words that `from`
/// writes. With a power of two of slots two of them write one line; else each line has one writer.
struct Telling {
    int to = 0;
    int line = 0;   // of slots x rounds
    int which = 0;  // 0 or 1
};
[[nodiscard]] constexpr Telling telling(int from, int round, int slots) {
    const int step = 1 << round, rounds = rounds_of(slots);
    if ((slots & (slots - 1)) != 0) {
        const int to = (from + step) % slots;
        return {to, to * rounds + round, 0};
    }
    const bool upper = (from & step) != 0;
    return {from ^ step, (from & ~step) * rounds + round, upper ? 1 : 0};
}
/// The slot that notifies slot `to` in a round.
[[nodiscard]] constexpr int heard_from(int to, int round, int slots) {
    const int step = 1 << round;
    return (slots & (slots - 1)) != 0 ? (to + slots - step) % slots : to ^ step;
}

/// No node expects more than `fan_in`, unless `flat`: then one node counts all members. That is right for
/// more members than CPUs, since the kernel then wakes members, and every level would add a round of waking.
[[nodiscard]] BarrierTree barrier_tree(const Neighbourhood& neighbourhood, int fan_in, bool flat = false);

inline constexpr int kFanIn = 8;

/// One member's handle on a barrier in shared memory.
class Barrier {
  public:
    /// Bytes of shared memory for this tree.
    [[nodiscard]] static std::size_t bytes(const BarrierTree& tree);
    /// Makes a barrier in zeroed memory (aligned to kApart), once, before any member uses it. Barriers are
    /// counted from `before` + 1 (for tests near the wrap-around).
    static void form(void* where, const BarrierTree& tree, std::uint32_t before = 0);

    /// `departures`, when given, ends waits for members that have left the team.
    Barrier(void* where, int member, Patience patience, const Departures* departures = nullptr);

    /// Waits for all members. Writes of each before the barrier are visible to all after it. Throws
    /// MemberLost.
    void wait() {
        ++phase_;
        if (own_ != nullptr)
            wait_for_other();
        else
            wait_for_all();
    }
    /// The number of barriers that this member has passed or waits in (it wraps around).
    [[nodiscard]] std::uint32_t count() const { return phase_; }
    [[nodiscard]] int members() const { return members_; }

  private:
    struct Node;
    struct Image;

    [[nodiscard]] bool has_come(std::uint32_t phase) const {
        return static_cast<std::int32_t>(phase - phase_) >= 0;
    }
    void wait_for(WordAt word);
    void wait_for_all();

    /// The barrier of two, inlined in the program. A member that comes to the next barrier within some two
    /// nanoseconds finds the line still in its cache and need not fetch it again (AMD EPYC, Zen 5, `strata
    /// bench team-barrier`: 26 to 30 ns instead of 31 to 70 by way of wait_for_all(), with a flag at 20).
    void wait_for_other() {
        const auto come = [this] { return has_come(other_->load(std::memory_order_acquire)); };
        detail::store(*own_, phase_);
        if (!come() && !look_briefly(come)) wait_for({*round_[0].heard, round_[0].heard_which});
        // Last, since it is seldom needed: the other one sleeps only if it came first, and then it has not
        // waited for this check.
        if (own_sleepers_->load() != 0) detail::wake(*own_, kEverybody);
    }

    /// The path from this member's node to the root. It is kept here, since constant data should not share a
    /// line with changing data.
    struct Step {
        Node* node;
        std::uint32_t expected;
    };
    /// In place, not in vectors: members that share a core pay for every page that they touch.
    static constexpr int kMostSteps = 32, kMostRounds = 31;
    std::array<Step, kMostSteps> way_;
    int steps_ = 0;
    /// At the root: in each round, the line by which this one's node notifies another, and the line by which
    /// it is notified.
    struct Round {
        Pair *told, *heard;
        int told_which, heard_which;
    };
    std::array<Round, kMostRounds> round_;
    int rounds_ = 0;
    /// For two members that do not share a CPU, and only for these: the words of round 0.
    std::atomic<std::uint32_t>*own_ = nullptr, *other_ = nullptr, *own_sleepers_ = nullptr;
    Patience patience_;
    const Departures* departures_;
    int members_;
    std::uint32_t phase_;
};

}  // namespace strata::team
