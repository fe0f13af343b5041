// The member of each place of a team, in memory that all members share.
//
// Every place has one word. It holds the member that is to have the place (`target`), the member with a
// thread awake there (`occupant`) and the state of that thread (`state`). A change of counts sets targets
// only. The occupant sees it and leaves, and only then does another thread wake there. So at any time one
// thread may change a word:
//
//   free     no thread is awake: the target's leader may call its thread there        -> work
//   idle     the occupant's thread looks for work: its leader may give it some        -> work
//            the thread itself may leave, for the target or to sleep                  -> free, or idle of the
//            target, by waking the target's thread in its place
//   work     the occupant's thread is in a region; at its end it leaves as above, or  -> idle
//   lent     the occupant's OpenMP threads have it until its leader changes that
//   home     its leader itself is there, always
//
// All steps are compare-and-swap of the whole word. The only lock is one for changes of counts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/team/crew_places.hpp"
#include "core/team/lock.hpp"

namespace strata::team {

/// The word of a place, taken apart.
struct PlaceWord {
    enum State : std::uint8_t { free, idle, work, lent, home };
    static constexpr std::uint32_t kNobody = 0x3fff, kSequences = 1U << 14;

    std::uint32_t target = kNobody, occupant = kNobody;  // members
    State state = free;
    bool waited = false;         // the occupant's leader sleeps until the work is done
    std::uint32_t sequence = 0;  // of the region, modulo kSequences
    std::uint32_t number = 0;    // of the thread in that region

    // Threads sleep on the low half (futexes have 32 bits), so a change of the target alone wakes none.
    [[nodiscard]] std::uint64_t packed() const {
        return static_cast<std::uint64_t>(occupant) | static_cast<std::uint64_t>(state) << 14 |
               static_cast<std::uint64_t>(waited) << 17 | static_cast<std::uint64_t>(sequence) << 18 |
               static_cast<std::uint64_t>(target) << 32 | static_cast<std::uint64_t>(number) << 46;
    }
    [[nodiscard]] static PlaceWord of(std::uint64_t bits) {
        const auto field = [&](int at, int width) {
            return static_cast<std::uint32_t>(bits >> at & ((1ULL << width) - 1));
        };
        return {field(32, 14),      field(0, 14),  static_cast<State>(field(14, 3)),
                field(17, 1) != 0U, field(18, 14), field(46, 18)};
    }
    [[nodiscard]] bool of_member(int member) const { return occupant == static_cast<std::uint32_t>(member); }
    [[nodiscard]] bool for_member(int member) const { return target == static_cast<std::uint32_t>(member); }
    friend bool operator==(const PlaceWord&, const PlaceWord&) = default;
};

/// One process's view of the table. Cheap to copy; the memory must outlive it.
class CrewTable {
  public:
    static constexpr int kMostMembers = PlaceWord::kNobody - 1, kMostPlaces = 1 << 18;

    [[nodiscard]] static std::size_t bytes(const CrewPlaces& places);
    /// Makes a table in zeroed memory (aligned to kApart), once, before any member uses it.
    static void form(void* where, const CrewPlaces& places);
    explicit CrewTable(void* where);

    [[nodiscard]] int members() const;
    [[nodiscard]] int places() const;
    [[nodiscard]] int home(int member) const;
    [[nodiscard]] int distance(int member, int place) const;
    [[nodiscard]] std::atomic<std::uint64_t>& word(int place) const;
    [[nodiscard]] PlaceWord seen(int place) const { return PlaceWord::of(word(place).load()); }

    /// The number of places that each member is to have.
    [[nodiscard]] int count(int member) const;
    [[nodiscard]] std::vector<int> counts() const;
    /// Grows with each change of the places that a member is to have.
    [[nodiscard]] std::uint32_t changes(int member) const;
    /// The places that a member is to have, ascending. Read during a change, the list may mix old and new;
    /// then changes() grows afterwards.
    void places_of(int member, std::vector<int>& places) const;

    /// Whether a member has a thread for a place, asleep or awake. A thread stays until its member ends.
    [[nodiscard]] bool manned(int member, int place) const;
    void set_manned(int member, int place, bool yes) const;

    /// Sets new counts for all members. A member that is to have more takes, in turn with others, the place
    /// nearest to its home; among equally near ones the place furthest from its owner's home. A member that
    /// is to have fewer gives up the places so taken, then those furthest from its own home. With `from` >= 0
    /// only places of that member are taken. Returns the places with a changed target. Throws Error for
    /// counts below one and for more than there are places; MemberLost.
    std::vector<int> change(const std::function<void(std::vector<int>&)>& wish, const Patience& patience,
                            int from = -1) const;

  private:
    struct Image;
    struct Seat;
    struct Place;
    struct Parts;

    void refuse(const std::vector<int>& before, const std::vector<int>& wanted) const;
    [[nodiscard]] int nearest(int taker, int from, const std::vector<int>& wanted,
                              const std::vector<int>& have) const;
    void retarget(int place, std::uint32_t target) const;

    Image* image_;
    Seat* seats_;
    Place* places_;
    std::atomic<std::uint64_t>*owned_, *manned_;  // [member][place] as bits
    const std::uint8_t* distance_;                // null: all alike
    std::size_t row_;                             // words of a member's bits
};

/// Puts a thread to sleep until the low half of a place's word is no longer that of `seen`; may return early.
void sleep_at(std::atomic<std::uint64_t>& word, std::uint64_t seen, std::uint32_t bits) noexcept;
void wake_at(std::atomic<std::uint64_t>& word, std::uint32_t bits) noexcept;
/// The sleepers that wake_at() wakes: a member's thread for that place, or the leader that waits for the
/// work's end.
[[nodiscard]] inline std::uint32_t thread_bit(std::uint32_t member) { return 1U << member % 31; }
inline constexpr std::uint32_t kLeaderBit = 1U << 31;

}  // namespace strata::team
