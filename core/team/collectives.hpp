// What all members do together beside the barrier: broadcast and reductions, through shared memory.
//
// Every member writes into a place of its own, all meet in the barrier, every member reads. There are two
// sets of places in turn: who is still reading one set when others write the next is not disturbed, and
// nobody can write the same set again before all have met once more. So each call costs one barrier.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include "core/team/barrier.hpp"
#include "core/team/exact_sum.hpp"

namespace strata::team {

/// One member's handle. Calls are collective: every member makes the same ones in the same order.
class Collectives {
  public:
    /// Bytes that one member can bring into one barrier; longer data go in pieces.
    static constexpr std::size_t kPlace = 8 * kApart;

    [[nodiscard]] static std::size_t bytes(int members) {
        return 2 * static_cast<std::size_t>(members) * kPlace;
    }
    /// `where`: shared memory, aligned to kApart. The barrier is this member's, and outlives this.
    Collectives(void* where, int member, Barrier& barrier)
        : places_(static_cast<std::byte*>(where)), member_(member), barrier_(barrier) {}

    /// What member `root` has in `data` is in everybody's `data` afterwards.
    template <class T>
    void broadcast(std::span<T> data, int root) {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::span<std::byte> bytes = std::as_writable_bytes(data);
        const std::size_t room = static_cast<std::size_t>(barrier_.members()) * kPlace;
        for (std::size_t begin = 0; begin < bytes.size(); begin += room) {
            const auto piece = bytes.subspan(begin, std::min(room, bytes.size() - begin));
            std::byte* shared = turn();
            if (member_ == root) std::memcpy(shared, piece.data(), piece.size());
            barrier_.wait();
            if (member_ != root) std::memcpy(piece.data(), shared, piece.size());
        }
    }

    /// Each element becomes the combination of all members' ones, in the order of the members: the same for
    /// everybody, and from run to run with as many members. For sums of doubles that are the same with any
    /// number of members use sum(). Meant for short data: every member reads everybody's.
    template <class T, class Combine>
    void reduce(std::span<T> data, Combine combine) {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kPlace);
        constexpr std::size_t room = kPlace / sizeof(T);
        for (std::size_t begin = 0; begin < data.size(); begin += room) {
            const auto piece = data.subspan(begin, std::min(room, data.size() - begin));
            std::byte* shared = turn();
            std::memcpy(place(shared, member_), piece.data(), piece.size_bytes());
            barrier_.wait();
            std::memcpy(piece.data(), place(shared, 0), piece.size_bytes());
            for (int member = 1; member < barrier_.members(); ++member)
                for (std::size_t i = 0; i < piece.size(); ++i) {
                    T theirs;
                    std::memcpy(&theirs, place(shared, member) + i * sizeof(T), sizeof(T));
                    piece[i] = combine(piece[i], theirs);
                }
        }
    }

    template <class T, class Combine>
    [[nodiscard]] T reduce(T value, Combine combine) {
        reduce(std::span<T>(&value, 1), combine);
        return value;
    }

    /// The sum of all that the members have put into theirs, rounded once: the same bits for any number of
    /// members and any division of the values among them.
    [[nodiscard]] double sum(const ExactSum& mine) {
        static_assert(std::is_trivially_copyable_v<ExactSum> && sizeof(ExactSum) <= kPlace);
        std::byte* shared = turn();
        std::memcpy(place(shared, member_), &mine, sizeof mine);
        barrier_.wait();
        ExactSum all;
        for (int member = 0; member < barrier_.members(); ++member) {
            ExactSum theirs;
            std::memcpy(static_cast<void*>(&theirs), place(shared, member), sizeof theirs);
            all.add(theirs);
        }
        return all.value();
    }
    /// The same for all members' values.
    [[nodiscard]] double sum(std::span<const double> mine) {
        ExactSum sum_of_mine;
        sum_of_mine.add(mine);
        return sum(sum_of_mine);
    }

  private:
    std::byte* turn() {
        second_ = !second_;
        return places_ + (second_ ? bytes(barrier_.members()) / 2 : 0);
    }
    static std::byte* place(std::byte* shared, int member) {
        return shared + static_cast<std::size_t>(member) * kPlace;
    }

    std::byte* places_;
    int member_;
    Barrier& barrier_;
    bool second_ = false;
};

}  // namespace strata::team
