#include "core/team/crew_threads.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"
#include "core/launch/bind.hpp"
#include "core/team/openmp.hpp"

namespace strata::team {
namespace {

/// This thread's place in a region; -1 outside. Its address identifies the thread.
thread_local int place_here = -1;

/// Sets that for a scope.
class InRegion {
  public:
    explicit InRegion(int place) { place_here = place; }
    ~InRegion() { place_here = -1; }
    InRegion(const InRegion&) = delete;
    InRegion& operator=(const InRegion&) = delete;
};

/// Blocks signals while threads are made, which inherit the mask: signals go to the program's own threads.
class AllSignalsBlocked {
  public:
    AllSignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
            sigdelset(&all, fault);
        pthread_sigmask(SIG_BLOCK, &all, &before_);
    }
    ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    AllSignalsBlocked(const AllSignalsBlocked&) = delete;
    AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

  private:
    sigset_t before_;
};

void bind_here(const std::vector<std::vector<int>>& pus, int place) {
    if (pus.empty()) return;
    const auto& here = pus[static_cast<std::size_t>(place)];
    if (!here.empty() && !launch::bind_to(here))
        throw system_error("a thread of a crew cannot be bound to its place", errno)
            .given(fmt::format("PU {}", fmt::join(here, ", ")));
}

}  // namespace

int Crew::place() { return place_here; }

CrewThreads::CrewThreads(const CrewTable& table, int member, const std::vector<std::vector<int>>& pus,
                         const Patience& patience)
    : table_(table),
      member_(member),
      me_(static_cast<std::uint32_t>(member)),
      pus_(pus),
      patience_(patience),
      leader_(&place_here),
      workers_(static_cast<std::size_t>(table.places())) {
    bind_here(pus_, table_.home(member_));
}

CrewThreads::~CrewThreads() {
    give_back_lent(true);
    ending_ = true;
    for (int place = 0; place < table_.places(); ++place) {
        Worker* worker = workers_[static_cast<std::size_t>(place)].get();
        if (worker == nullptr) continue;
        // A thread may be between its check of ending_ and its sleep, so it is woken again.
        while (!worker->gone) {
            wake_at(table_.word(place), thread_bit(me_));
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
        worker->thread.join();
    }
}

bool CrewThreads::leads() const { return leader_ == &place_here && place_here < 0; }

/// Makes the missing threads of these places, and waits until they are bound.
void CrewThreads::make(const std::vector<int>& places) {
    const AllSignalsBlocked blocked;
    try {
        for (const int place : places) {
            auto& worker = workers_[static_cast<std::size_t>(place)];
            if (worker) continue;
            auto made = std::make_unique<Worker>();
            made->thread = std::thread([this, place, self = made.get()] { live(place, *self); });
            worker = std::move(made);
        }
    } catch (const std::system_error& error) {
        throw system_error(fmt::format("member {} cannot have another thread", member_), error.code().value())
            .remedy("ulimit -u, or fewer threads");
    }
    for (const int place : places) {
        auto& worker = workers_[static_cast<std::size_t>(place)];
        while (!table_.manned(member_, place) && !worker->gone) sched_yield();
        if (!worker->gone) continue;
        worker->thread.join();
        const auto made = std::move(worker);
        std::rethrow_exception(made->thrown);
    }
}

/// Finds the places that this member is to have, where they have changed.
void CrewThreads::refresh() {
    const std::uint32_t changes = table_.changes(member_);
    if (changes == seen_changes_ && !fresh_) return;
    table_.places_of(member_, own_);
    std::erase(own_, table_.home(member_));
    const auto made = [&](int place) { return workers_[static_cast<std::size_t>(place)] != nullptr; };
    if (!std::all_of(own_.begin(), own_.end(), made)) make(own_);
    claimed_.reserve(own_.size());
    asleep_.reserve(own_.size());
    seen_changes_ = changes;
    fresh_ = false;
}

void CrewThreads::prepare() {
    std::vector<int> all;
    for (int place = 0; place < table_.places(); ++place)
        if (table_.seen(place).state != PlaceWord::home) all.push_back(place);
    make(all);
}

/// Takes a place for a region, or for OpenMP; false where a thread of another member is awake, or is to be.
bool CrewThreads::claim(int place, PlaceWord::State state, int number) {
    auto& word = table_.word(place);
    std::uint64_t bits = word.load(std::memory_order_acquire);
    while (true) {
        PlaceWord next = PlaceWord::of(bits);
        if (!next.for_member(member_)) return false;
        // An idle place of another member without a thread: that member has left the team.
        if (next.occupant != PlaceWord::kNobody && !next.of_member(member_) &&
            (next.state != PlaceWord::idle || table_.manned(static_cast<int>(next.occupant), place)))
            return false;
        const bool awake = next.of_member(member_) && next.state == PlaceWord::idle;
        next.occupant = me_;
        next.state = state;
        next.waited = false;
        next.sequence = next_sequence();
        next.number = static_cast<std::uint32_t>(number);
        if (!word.compare_exchange_weak(bits, next.packed())) continue;
        if (!awake) asleep_.push_back(place);
        return true;
    }
}

void CrewThreads::run(CrewTask task, void* held) {
    if (!leads()) return task(held, 0, 1);
    refresh();
    claimed_.clear();
    asleep_.clear();
    __builtin_prefetch(&region_, 1);
    for (const int place : own_)
        if (claim(place, PlaceWord::work, static_cast<int>(claimed_.size()) + 1)) claimed_.push_back(place);
    if (!lent_.empty()) give_back_lent(false);
    const int threads = static_cast<int>(claimed_.size()) + 1;
    region_.task = task;
    region_.held = held;
    region_.threads = threads;
    region_.sequence.store(next_sequence(), std::memory_order_release);
    for (const int place : asleep_) wake_at(table_.word(place), thread_bit(me_));
    std::exception_ptr thrown;
    try {
        const InRegion inside(table_.home(member_));
        task(held, 0, threads);
    } catch (...) {
        thrown = std::current_exception();
    }
    for (const int place : claimed_) join(place);
    if (thrown_.load(std::memory_order_relaxed)) {
        thrown_ = false;
        for (const int place : claimed_) {
            auto theirs = std::exchange(workers_[static_cast<std::size_t>(place)]->thrown, nullptr);
            if (!thrown) thrown = std::move(theirs);
        }
    }
    if (thrown) std::rethrow_exception(thrown);
}

/// Waits until the place's thread no longer works for this member. The wait needs no check for lost members:
/// the thread is in this process, and waits within its body end by their own patience.
void CrewThreads::join(int place) {
    auto& word = table_.word(place);
    std::uint64_t bits = word.load(std::memory_order_acquire);
    const auto at_work = [&] {
        const PlaceWord now = PlaceWord::of(bits);
        return now.of_member(member_) && now.state == PlaceWord::work;
    };
    while (at_work()) {
        if (look(word, bits)) {
            bits = word.load(std::memory_order_acquire);
            continue;
        }
        PlaceWord next = PlaceWord::of(bits);
        next.waited = true;
        if (!word.compare_exchange_strong(bits, next.packed())) continue;
        sleep_at(word, next.packed(), kLeaderBit);
        bits = word.load(std::memory_order_acquire);
    }
}

/// Spins on a word by the team's patience; true when it is no longer `bits`.
bool CrewThreads::look(const std::atomic<std::uint64_t>& word, std::uint64_t bits) const {
    constexpr int bare_looks = 2000, looks_between_clocks = 32;
    const auto changed = [&] { return word.load(std::memory_order_acquire) != bits; };
    if (patience_.spin_ns > 0) {
        for (int i = 0; i < bare_looks; ++i)
            if (changed()) return true;
        const std::int64_t until = detail::now_ns() + patience_.spin_ns;
        do {
            for (int i = 0; i < looks_between_clocks; ++i) {
                detail::relax();
                if (changed()) return true;
            }
        } while (detail::now_ns() < until);
    }
    for (int i = 0; i < patience_.yields; ++i) {
        sched_yield();
        if (changed()) return true;
    }
    return false;
}

/// Gives up a place of this member. It goes to the thread of the member that is to have it, which is woken on
/// the same core and looks for work there; or it becomes free. False when the word is no longer `bits`.
bool CrewThreads::leave(std::atomic<std::uint64_t>& word, int place, std::uint64_t& bits) {
    PlaceWord next = PlaceWord::of(bits);
    const std::uint32_t to = next.target;
    const bool waited = std::exchange(next.waited, false);
    const bool handed = to != PlaceWord::kNobody && to != me_ && patience_.spin_ns > 0 &&
                        table_.manned(static_cast<int>(to), place);
    next.occupant = handed ? to : PlaceWord::kNobody;
    next.state = handed ? PlaceWord::idle : PlaceWord::free;
    if (!word.compare_exchange_strong(bits, next.packed())) return false;
    if (waited) wake_at(word, kLeaderBit);
    if (handed) wake_at(word, thread_bit(to));
    return true;
}

void CrewThreads::send(const std::vector<int>& places) {
    if (patience_.spin_ns == 0) return;  // the thread would look for work and disturb others
    for (const int place : places) {
        auto& word = table_.word(place);
        std::uint64_t bits = word.load();
        PlaceWord next = PlaceWord::of(bits);
        if (next.state != PlaceWord::free || next.target == PlaceWord::kNobody ||
            !table_.manned(static_cast<int>(next.target), place))
            continue;
        next.occupant = next.target;
        next.state = PlaceWord::idle;
        // Fails if another thread was quicker: then the place is no longer free.
        if (word.compare_exchange_strong(bits, next.packed())) wake_at(word, thread_bit(next.target));
    }
}

void CrewThreads::live(int place, Worker& worker) {
    try {
        bind_here(pus_, place);
    } catch (...) {
        worker.thrown = std::current_exception();
        worker.gone = true;
        return;
    }
    auto& word = table_.word(place);
    table_.set_manned(member_, place, true);
    for (PlaceWord seen; wait_for_work(word, place, seen);) work(place, seen, worker);
    table_.set_manned(member_, place, false);
    worker.gone = true;
}

/// Returns false when this member's threads are to end.
bool CrewThreads::wait_for_work(std::atomic<std::uint64_t>& word, int place, PlaceWord& seen) {
    while (true) {
        std::uint64_t bits = word.load(std::memory_order_acquire);
        seen = PlaceWord::of(bits);
        if (seen.of_member(member_) && seen.state == PlaceWord::work) return true;
        if (seen.of_member(member_) && seen.state == PlaceWord::idle) {
            // Leaves at once a place that another member is to have, and after a long time without work any
            // place.
            if (!seen.for_member(member_) || ending_.load(std::memory_order_relaxed) || !look(word, bits))
                static_cast<void>(leave(word, place, bits));
            continue;
        }
        if (ending_) return false;
        sleep_at(word, bits, thread_bit(me_));
    }
}

void CrewThreads::work(int place, const PlaceWord& seen, Worker& worker) {
    // The leader calls all threads before it knows their number.
    for (int i = 0; region_.sequence.load(std::memory_order_acquire) != seen.sequence; ++i)
        i < 1000 ? detail::relax() : static_cast<void>(sched_yield());
    try {
        const InRegion inside(place);
        region_.task(region_.held, static_cast<int>(seen.number), region_.threads);
    } catch (...) {
        worker.thrown = std::current_exception();
        thrown_.store(true, std::memory_order_relaxed);
    }
    auto& word = table_.word(place);
    std::uint64_t bits = word.load(std::memory_order_relaxed);
    while (true) {
        PlaceWord next = PlaceWord::of(bits);
        if (!next.for_member(member_)) {
            if (leave(word, place, bits)) return;
            continue;
        }
        next.state = PlaceWord::idle;
        const bool waited = std::exchange(next.waited, false);
        if (!word.compare_exchange_weak(bits, next.packed())) continue;
        if (waited) wake_at(word, kLeaderBit);
        return;
    }
}

/// Takes places back from OpenMP: all, or those that others are to have. Drops places from the list that are
/// no longer lent.
void CrewThreads::give_back_lent(bool all) {
    std::erase_if(lent_, [&](int place) {
        auto& word = table_.word(place);
        std::uint64_t bits = word.load();
        while (true) {
            const PlaceWord now = PlaceWord::of(bits);
            if (!now.of_member(member_) || now.state != PlaceWord::lent) return true;
            if (!all && now.for_member(member_)) return false;
            if (leave(word, place, bits)) return true;
        }
    });
}

int CrewThreads::lend_to_openmp() {
    if (!leads())
        throw Error(
            "cores of a crew are lent to OpenMP by the thread that leads its regions, and between them")
            .given(fmt::format("member {}", member_));
    const OpenMP openmp;
    if (!openmp) return 0;
    refresh();
    std::vector<int> now;
    asleep_.clear();
    for (const int place : own_)
        if (claim(place, PlaceWord::lent, 0)) now.push_back(place);
    std::vector<int> bound = {table_.home(member_)};
    bound.insert(bound.end(), now.begin(), now.end());
    // Before others get places of OpenMP, its threads must have left them.
    if (bound != bound_for_openmp_) {
        std::vector<std::vector<int>> pus;
        for (const int place : bound)
            pus.push_back(pus_.empty() ? std::vector<int>() : pus_[static_cast<std::size_t>(place)]);
        openmp.use(pus);
        bound_for_openmp_ = bound;
    }
    give_back_lent(false);
    for (const int place : now)
        if (std::find(lent_.begin(), lent_.end(), place) == lent_.end()) lent_.push_back(place);
    return static_cast<int>(bound.size());
}

}  // namespace strata::team
