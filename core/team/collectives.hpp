// Collective operations beside the barrier: broadcast and reductions, through shared memory.
//
// Every member writes into a slot of its own, all meet in the barrier, then every member reads. Two sets of
// slots are used in turn. While a slow member still reads one set, others write the other. They can write the
// same set again only after the next barrier, which the slow member must have reached. So each call costs one
// barrier.
//
// Over several nodes, the members of each node do this first. Then its leader exchanges the node's part with
// the other leaders, while the rest of the node waits for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "core/team/barrier.hpp"
#include "core/team/exact_sum.hpp"
#include "core/team/nodes.hpp"

namespace strata::team {

/// Bytes that one member can contribute in one barrier; longer data is sent in pieces.
inline constexpr std::size_t kSlotBytes = 8 * kApart;

/// One member's handle on the exchange of its node with others.
class NodeExchange {
  public:
    /// Bytes of shared memory on each node, for so many nodes.
    [[nodiscard]] static std::size_t bytes(int nodes) {
        return sizeof(Word) + static_cast<std::size_t>(nodes) * kSlotBytes;
    }
    /// `where`: shared memory of this node, zeroed, aligned to kApart.
    NodeExchange(void* where, const Where& who, Nodes& nodes, const Patience& patience)
        : back_(*static_cast<Word*>(where)),
          far_(static_cast<std::byte*>(where) + sizeof(Word)),
          who_(who),
          nodes_(nodes),
          patience_(patience),
          fewest_(nodes.fewest()) {}

    /// The leader does `what`; the others of the node wait until it is done.
    template <class What>
    void go(What what) {
        const std::uint32_t trip = ++trips_;
        if (who_.local_rank != 0)
            return wait_until(
                back_, [trip](std::uint32_t back) { return static_cast<std::int32_t>(back - trip) >= 0; },
                patience_);
        what(nodes_);
        publish(back_, trip);
    }
    /// The slots for the results of the leader's exchange, one for each node.
    [[nodiscard]] std::byte* far(int node) const {
        return far_ + static_cast<std::size_t>(node) * kSlotBytes;
    }
    [[nodiscard]] std::span<std::byte> far(std::size_t bytes_of_each) const {
        return {far_, bytes_of_each * static_cast<std::size_t>(who_.nodes)};
    }
    [[nodiscard]] const Where& who() const { return who_; }
    [[nodiscard]] std::pair<int, int> location_of(int rank) const { return nodes_.location_of(rank); }
    /// The number of members of the smallest node.
    [[nodiscard]] int fewest() const { return fewest_; }

  private:
    Word& back_;
    std::byte* far_;
    Where who_;
    Nodes& nodes_;
    Patience patience_;
    int fewest_;
    std::uint32_t trips_ = 0;
};

/// One member's handle. Calls are collective: every member makes the same ones in the same order.
class Collectives {
  public:
    [[nodiscard]] static std::size_t bytes(int members) {
        return 2 * static_cast<std::size_t>(members) * kSlotBytes;
    }
    /// `where`: shared memory, aligned to kApart. The barrier is this member's, and must outlive this.
    /// `exchange`: the exchange with other nodes, if there are any; `member` is this one's number on its
    /// node.
    Collectives(void* where, int member, Barrier& barrier, NodeExchange* exchange = nullptr)
        : slots_(static_cast<std::byte*>(where)), member_(member), barrier_(barrier), exchange_(exchange) {}

    /// Copies member `root`'s `data` into the `data` of all members.
    template <class T>
    void broadcast(std::span<T> data, int root) {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::span<std::byte> bytes = std::as_writable_bytes(data);
        const auto [node, member] = exchange_ != nullptr ? exchange_->location_of(root) : std::pair(0, root);
        const bool mine = member_ == member && (exchange_ == nullptr || exchange_->who().node == node);
        const int fewest = exchange_ != nullptr ? exchange_->fewest() : barrier_.members();
        const std::size_t room = static_cast<std::size_t>(fewest) * kSlotBytes;
        for (std::size_t begin = 0; begin < bytes.size(); begin += room) {
            const auto piece = bytes.subspan(begin, std::min(room, bytes.size() - begin));
            std::byte* shared = turn();
            if (mine) std::memcpy(shared, piece.data(), piece.size());
            barrier_.wait();
            if (exchange_ != nullptr)
                exchange_->go([&, from = node](Nodes& nodes) {
                    nodes.broadcast({shared, piece.size()}, from);
                });
            if (!mine) std::memcpy(piece.data(), shared, piece.size());
        }
    }

    /// Each element becomes the combination of all members' elements, in the order of the members. The result
    /// is the same in all members, and in all runs with as many members on as many nodes (each node combines
    /// its own first). For sums of doubles that are the same with any number of members use sum(). Meant for
    /// short data: every member reads all members' data.
    template <class T, class Combine>
    void reduce(std::span<T> data, Combine combine) {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kSlotBytes);
        constexpr std::size_t room = kSlotBytes / sizeof(T);
        for (std::size_t begin = 0; begin < data.size(); begin += room) {
            const auto piece = data.subspan(begin, std::min(room, data.size() - begin));
            std::byte* shared = turn();
            std::memcpy(slot(shared, member_), piece.data(), piece.size_bytes());
            barrier_.wait();
            // Over several nodes only the leader needs the node's own combination.
            if (exchange_ == nullptr || member_ == 0)
                fold(piece, shared, kSlotBytes, barrier_.members(), combine);
            if (exchange_ == nullptr) continue;
            exchange_->go([&](Nodes& nodes) {
                std::memcpy(slot(shared, 0), piece.data(), piece.size_bytes());
                nodes.gather({slot(shared, 0), piece.size_bytes()}, exchange_->far(piece.size_bytes()));
            });
            fold(piece, exchange_->far(0), piece.size_bytes(), exchange_->who().nodes, combine);
        }
    }

    template <class T, class Combine>
    [[nodiscard]] T reduce(T value, Combine combine) {
        reduce(std::span<T>(&value, 1), combine);
        return value;
    }

    /// The sum of all values in the members' sums, rounded once: the same bits for any number of members and
    /// any division of the values among them.
    [[nodiscard]] double sum(const ExactSum& mine) {
        static_assert(std::is_trivially_copyable_v<ExactSum> && sizeof(ExactSum) <= kSlotBytes);
        std::byte* shared = turn();
        std::memcpy(slot(shared, member_), &mine, sizeof mine);
        barrier_.wait();
        if (exchange_ != nullptr) return sum_over_nodes(shared);
        return sum_here(shared).value();
    }
    /// The same for all members' values.
    [[nodiscard]] double sum(std::span<const double> mine) {
        ExactSum sum_of_mine;
        sum_of_mine.add(mine);
        return sum(sum_of_mine);
    }

  private:
    /// Combines the parts at `from`, `step` bytes apart, in order.
    template <class T, class Combine>
    static void fold(std::span<T> into, const std::byte* from, std::size_t step, int parts, Combine combine) {
        std::memcpy(into.data(), from, into.size_bytes());
        for (int part = 1; part < parts; ++part)
            for (std::size_t i = 0; i < into.size(); ++i) {
                T theirs;
                std::memcpy(&theirs, from + static_cast<std::size_t>(part) * step + i * sizeof(T), sizeof(T));
                into[i] = combine(into[i], theirs);
            }
    }
    [[nodiscard]] ExactSum sum_here(std::byte* shared) const {
        ExactSum all;
        for (int member = 0; member < barrier_.members(); ++member) {
            ExactSum theirs;
            std::memcpy(static_cast<void*>(&theirs), slot(shared, member), sizeof theirs);
            all.add(theirs);
        }
        return all;
    }
    [[nodiscard]] double sum_over_nodes(std::byte* shared) {
        exchange_->go([&](Nodes& nodes) {
            ExactSum all = sum_here(shared);
            nodes.add_up(all);
            const double value = all.value();
            std::memcpy(exchange_->far(0), &value, sizeof value);
        });
        double value = 0;
        std::memcpy(&value, exchange_->far(0), sizeof value);
        return value;
    }

    std::byte* turn() {
        second_ = !second_;
        return slots_ + (second_ ? bytes(barrier_.members()) / 2 : 0);
    }
    static std::byte* slot(std::byte* shared, int member) {
        return shared + static_cast<std::size_t>(member) * kSlotBytes;
    }

    std::byte* slots_;
    int member_;
    Barrier& barrier_;
    NodeExchange* exchange_;
    bool second_ = false;
};

}  // namespace strata::team
