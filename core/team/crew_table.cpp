#include "core/team/crew_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdlib>
#include <new>
#include <numeric>
#include <tuple>

#include "core/base/error.hpp"

namespace strata::team {
namespace {

std::size_t row_of(std::size_t places) { return (places + 63) / 64; }
std::size_t padded(std::size_t bytes) { return (bytes + kApart - 1) / kApart * kApart; }

/// The 32 bits that a futex compares.
std::uint32_t* low_half(std::atomic<std::uint64_t>& word) {
    static_assert(sizeof(word) == 8 && std::atomic<std::uint64_t>::is_always_lock_free);
    return reinterpret_cast<std::uint32_t*>(&word) + (std::endian::native == std::endian::little ? 0 : 1);
}

}  // namespace

void sleep_at(std::atomic<std::uint64_t>& word, std::uint64_t seen, std::uint32_t bits) noexcept {
    syscall(SYS_futex, low_half(word), FUTEX_WAIT_BITSET, static_cast<std::uint32_t>(seen), nullptr, nullptr,
            bits);
}

void wake_at(std::atomic<std::uint64_t>& word, std::uint32_t bits) noexcept {
    syscall(SYS_futex, low_half(word), FUTEX_WAKE_BITSET, INT_MAX, nullptr, nullptr, bits);
}

struct CrewTable::Image {
    alignas(kApart) std::int32_t members = 0;
    std::int32_t places = 0, with_distance = 0;
    Lock changing;
};

/// A member reads the line of its own seat at each region; the line changes only with its own places.
struct CrewTable::Seat {
    alignas(kApart) std::atomic<std::uint32_t> changes{0};
    std::atomic<std::int32_t> count{0};
    std::int32_t home = 0;
};

struct CrewTable::Place {
    alignas(kApart) std::atomic<std::uint64_t> word{0};
};

/// Where the parts of a table begin, in bytes.
struct CrewTable::Parts {
    Parts(std::size_t members, std::size_t places, bool with_distance)
        : seats(sizeof(Image)),
          words(seats + members * sizeof(Seat)),
          owned(words + places * sizeof(Place)),
          manned(owned + padded(members * row_of(places) * 8)),
          distance(manned + padded(members * row_of(places) * 8)),
          end(distance + (with_distance ? padded(members * places) : 0)) {}
    std::size_t seats, words, owned, manned, distance, end;
};

std::size_t CrewTable::bytes(const CrewPlaces& places) {
    return Parts(static_cast<std::size_t>(places.members), places.owner.size(), !places.distance.empty()).end;
}

void CrewTable::form(void* where, const CrewPlaces& places) {
    if (places.members > kMostMembers || places.places() > kMostPlaces)
        throw Error("a team's crews are too large")
            .given(fmt::format("{} members with {} places", places.members, places.places()))
            .allowed(fmt::format("{} members with {} places", kMostMembers, kMostPlaces));
    auto* image = new (where) Image;
    image->members = places.members;
    image->places = places.places();
    image->with_distance = places.distance.empty() ? 0 : 1;
    const Parts parts(static_cast<std::size_t>(places.members), places.owner.size(),
                      image->with_distance != 0);
    auto* bytes = static_cast<std::byte*>(where);
    if (image->with_distance != 0)
        std::copy(places.distance.begin(), places.distance.end(),
                  reinterpret_cast<std::uint8_t*>(bytes + parts.distance));
    for (std::size_t i = 0; i < static_cast<std::size_t>(places.members); ++i)
        new (bytes + parts.seats + i * sizeof(Seat)) Seat;
    for (std::size_t i = 0; i < places.owner.size(); ++i) new (bytes + parts.words + i * sizeof(Place)) Place;
    const CrewTable table(where);
    for (int member = 0; member < places.members; ++member) table.seats_[member].home = -1;
    for (int place = 0; place < places.places(); ++place) {
        const int owner = places.owner[static_cast<std::size_t>(place)];
        Seat& seat = table.seats_[owner];
        PlaceWord word;
        word.target = static_cast<std::uint32_t>(owner);
        if (seat.home < 0) {
            seat.home = place;
            word.occupant = word.target;
            word.state = PlaceWord::home;
        }
        table.places_[place].word.store(word.packed());
        seat.count.fetch_add(1);
        table.owned_[static_cast<std::size_t>(owner) * table.row_ + static_cast<std::size_t>(place) / 64]
            .fetch_or(1ULL << place % 64);
    }
}

CrewTable::CrewTable(void* where) : image_(static_cast<Image*>(where)) {
    const auto places = static_cast<std::size_t>(image_->places);
    const Parts parts(static_cast<std::size_t>(image_->members), places, image_->with_distance != 0);
    auto* bytes = static_cast<std::byte*>(where);
    seats_ = reinterpret_cast<Seat*>(bytes + parts.seats);
    places_ = reinterpret_cast<Place*>(bytes + parts.words);
    owned_ = reinterpret_cast<std::atomic<std::uint64_t>*>(bytes + parts.owned);
    manned_ = reinterpret_cast<std::atomic<std::uint64_t>*>(bytes + parts.manned);
    distance_ =
        image_->with_distance != 0 ? reinterpret_cast<std::uint8_t*>(bytes + parts.distance) : nullptr;
    row_ = row_of(places);
}

int CrewTable::members() const { return image_->members; }
int CrewTable::places() const { return image_->places; }
int CrewTable::home(int member) const { return seats_[member].home; }
int CrewTable::count(int member) const { return seats_[member].count.load(); }
std::uint32_t CrewTable::changes(int member) const {
    return seats_[member].changes.load(std::memory_order_acquire);
}
std::atomic<std::uint64_t>& CrewTable::word(int place) const { return places_[place].word; }

int CrewTable::distance(int member, int place) const {
    return distance_ == nullptr
               ? 0
               : distance_[static_cast<std::size_t>(member) * static_cast<std::size_t>(image_->places) +
                           static_cast<std::size_t>(place)];
}

std::vector<int> CrewTable::counts() const {
    std::vector<int> all(static_cast<std::size_t>(members()));
    for (int member = 0; member < members(); ++member) all[static_cast<std::size_t>(member)] = count(member);
    return all;
}

void CrewTable::places_of(int member, std::vector<int>& places) const {
    places.clear();
    const auto* row = owned_ + static_cast<std::size_t>(member) * row_;
    for (std::size_t i = 0; i < row_; ++i)
        for (std::uint64_t bits = row[i].load(); bits != 0; bits &= bits - 1)
            places.push_back(static_cast<int>(i * 64) + std::countr_zero(bits));
}

bool CrewTable::manned(int member, int place) const {
    const auto at = static_cast<std::size_t>(member) * row_ + static_cast<std::size_t>(place) / 64;
    return (manned_[at].load() >> place % 64 & 1) != 0;
}

void CrewTable::set_manned(int member, int place, bool yes) const {
    auto& bits = manned_[static_cast<std::size_t>(member) * row_ + static_cast<std::size_t>(place) / 64];
    if (yes)
        bits.fetch_or(1ULL << place % 64);
    else
        bits.fetch_and(~(1ULL << place % 64));
}

void CrewTable::refuse(const std::vector<int>& before, const std::vector<int>& wanted) const {
    const int sum = std::accumulate(wanted.begin(), wanted.end(), 0);
    const int least = *std::min_element(wanted.begin(), wanted.end());
    if (least >= 1 && sum <= places()) return;
    throw Error(least < 1 ? "every member of a team keeps one thread, the one that leads its regions"
                          : "the members of a team cannot have more threads than the team has places")
        .given(fmt::format("threads of the members: {} (now {})", fmt::join(wanted, ", "),
                           fmt::join(before, ", ")))
        .allowed(fmt::format("at least 1 each, and at most {} together", places()))
        .remedy(least < 1
                    ? "leave it one"
                    : "move(from, to, n) takes threads of another member; a layout with more threads and "
                      "STRATA_BIND=none if threads are to share cores");
}

void CrewTable::retarget(int place, std::uint32_t target) const {
    auto& word = places_[place].word;
    std::uint64_t bits = word.load();
    PlaceWord next;
    do {
        next = PlaceWord::of(bits);
        next.target = target;
    } while (!word.compare_exchange_weak(bits, next.packed()));
}

int CrewTable::nearest(int taker, int from, const std::vector<int>& wanted,
                       const std::vector<int>& have) const {
    // By distance: nearest to the taker's home, then furthest from the owner's home, then next to the taker
    // in the order of places.
    using Rank = std::tuple<int, int, int, int>;
    Rank best{INT_MAX, 0, 0, 0};
    for (int place = 0; place < places(); ++place) {
        const PlaceWord word = seen(place);
        if (word.state == PlaceWord::home) continue;
        const bool unowned = word.target == PlaceWord::kNobody;
        const int owner = static_cast<int>(word.target);
        if (from >= 0 ? unowned || owner != from : !unowned && have[word.target] <= wanted[word.target])
            continue;
        best = std::min(best, Rank{distance(taker, place), unowned ? 0 : -distance(owner, place),
                                   std::abs(place - home(taker)), place});
    }
    return std::get<0>(best) == INT_MAX ? -1 : std::get<3>(best);
}

std::vector<int> CrewTable::change(const std::function<void(std::vector<int>&)>& wish,
                                   const Patience& patience, int from) const {
    const Holding hold(image_->changing, patience);
    const std::vector<int> before = counts();
    std::vector<int> wanted = before, have = before, changed;
    wish(wanted);
    refuse(before, wanted);
    const auto give = [&](int place, int taker) {
        const PlaceWord word = seen(place);
        const auto bit = 1ULL << place % 64;
        const auto at = static_cast<std::size_t>(place) / 64;
        if (word.target != PlaceWord::kNobody) {
            --have[word.target];
            owned_[word.target * row_ + at].fetch_and(~bit);
        }
        if (taker >= 0) {
            ++have[static_cast<std::size_t>(taker)];
            owned_[static_cast<std::size_t>(taker) * row_ + at].fetch_or(bit);
        }
        retarget(place, taker < 0 ? PlaceWord::kNobody : static_cast<std::uint32_t>(taker));
        changed.push_back(place);
    };
    // One place each in turn, so that no taker gets all places that are near to several.
    for (bool more = true; more;) {
        more = false;
        for (int taker = 0; taker < members(); ++taker)
            if (have[static_cast<std::size_t>(taker)] < wanted[static_cast<std::size_t>(taker)]) {
                give(nearest(taker, from, wanted, have), taker);
                more = true;
            }
    }
    // Places that no other member takes: the furthest from home go first.
    for (int giver = 0; giver < members(); ++giver)
        while (have[static_cast<std::size_t>(giver)] > wanted[static_cast<std::size_t>(giver)]) {
            std::vector<int> own;
            places_of(giver, own);
            std::erase(own, home(giver));
            give(*std::max_element(own.begin(), own.end(),
                                   [&](int a, int b) {
                                       return std::pair(distance(giver, a), a) <
                                              std::pair(distance(giver, b), b);
                                   }),
                 -1);
        }
    for (int member = 0; member < members(); ++member) {
        const auto m = static_cast<std::size_t>(member);
        if (have[m] == before[m]) continue;
        seats_[member].count.store(have[m]);
        seats_[member].changes.fetch_add(1);
    }
    return changed;
}

}  // namespace strata::team
