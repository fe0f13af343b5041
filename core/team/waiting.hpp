// Waiting for a word in shared memory to change: first spinning, then asleep in the kernel.
//
// A spinning thread sees a change soonest, if the change comes within microseconds. A longer wait must not
// keep a CPU from the member that is to make the change. So a wait spins for a while, then sleeps (futex(2),
// shared between processes). A sleeper wakes ten times a second to check for a member's death.
#pragma once

#include <sched.h>
#include <sys/syscall.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "core/team/failure.hpp"

namespace strata::team {

/// A word to wait for, and the number of its sleepers: waking costs a system call, which is saved when there
/// are none. Lies in memory that all waiters share, starts as zeros.
///
/// The two lie apart: the writer reads `sleepers` after it has changed the value, while readers fetch the
/// value's line.
struct Word {
    alignas(kApart) std::atomic<std::uint32_t> value{0};
    alignas(kApart) std::atomic<std::uint32_t> sleepers{0};
};

/// Two words in one line: each of two members writes one and reads the other. The second to come fetches the
/// line to write, and finds the first one's word in it; the first one then fetches the line once. With a line
/// for each word, each would have to be taken from its reader and fetched by it again: on an Intel Xeon
/// (Emerald Rapids) a barrier of two takes 159 ns that way and 70 this way, with a flag at 70.
struct Pair {
    alignas(kApart) std::atomic<std::uint32_t> value[2]{};
    alignas(kApart) std::atomic<std::uint32_t> sleepers[2]{};
};

/// A word, or one of a pair.
struct WordAt {
    std::atomic<std::uint32_t>& value;
    std::atomic<std::uint32_t>& sleepers;
    WordAt(Word& word) : value(word.value), sleepers(word.sleepers) {}  // NOLINT: as intended
    WordAt(Pair& pair, int which) : value(pair.value[which]), sleepers(pair.sleepers[which]) {}
};

/// The time to spin before sleeping, and the failure word that ends a wait that can no longer succeed.
struct Patience {
    const Failure* failure = nullptr;
    /// 0 where there are more members than CPUs: a spinning member would keep another one from arriving. Else
    /// many times the duration of a wake-up (some 50 us on a virtual machine). With less, once one of two
    /// members has slept, each would find the other asleep at every later barrier.
    std::int64_t spin_ns = 1'000'000;
    /// The number of yields before sleeping, where there are more members than CPUs. The next member then
    /// arrives without a sleep and a wake-up.
    int yields = 0;

    /// For members that share CPUs.
    [[nodiscard]] static Patience crowded(const Failure* failure) { return {failure, 0, 16}; }
};

namespace detail {

/// Tells the processor that this is a waiting loop, so others on its core get more of it.
inline void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");  // "yield" does nothing on most of these processors
#endif
}

#if defined(__x86_64__)
/// A locked operation on the own stack: the cheapest one that waits until earlier stores are visible.
inline void fence() noexcept {
    int own = 0;
    asm volatile("lock; addl $0, %0" : "+m"(own)::"memory", "cc");
}
#endif

/// A store before all later loads (memory_order_seq_cst). On x86-64 compilers make an exchange of it. Its
/// value becomes visible a little later than that of a plain store followed by a fence.
inline void store(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
#if defined(__x86_64__)
    word.store(value, std::memory_order_release);
    fence();
#else
    word.store(value);
#endif
}

/// The pause between two looks in the first microseconds. On x86-64 a fence takes some twenty cycles, a pause
/// instruction 40 to 140. Two fences: after one, the waiting member of a pair takes the line away just when
/// the other comes to write (AMD EPYC, Zen 5: a barrier of two took 25 to 37 ns with two, 24 to 80 with one,
/// 45 with a pause; a flag 21 with either number. In a later run it took 50 to 82 with two as well, so this
/// is not the whole reason).
inline void look_again() noexcept {
#if defined(__x86_64__)
    fence();
    fence();
#else
    relax();
#endif
}

/// Yields the CPU to other threads. On x86-64 without the C library: a process that shares a core finds its
/// address translations gone after each turn, so each page that is not touched saves time.
inline void give_way() noexcept {
#if defined(__x86_64__)
    long call = SYS_sched_yield;
    asm volatile("syscall" : "+a"(call)::"rcx", "r11", "memory");
#else
    sched_yield();
#endif
}

inline std::int64_t now_ns() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

/// Sleeps while the value is `seen`, at most a tenth of a second. `bits` selects the sleepers for wake().
void sleep_on(std::atomic<std::uint32_t>& value, std::uint32_t seen, std::uint32_t bits) noexcept;
void wake(std::atomic<std::uint32_t>& value, std::uint32_t bits) noexcept;

/// Counts a sleeper during its wait, also when an exception ends it.
class SleeperCount {
  public:
    explicit SleeperCount(WordAt word) : word_(word) { word_.sleepers.fetch_add(1); }
    ~SleeperCount() { word_.sleepers.fetch_sub(1); }
    SleeperCount(const SleeperCount&) = delete;
    SleeperCount& operator=(const SleeperCount&) = delete;

  private:
    WordAt word_;
};

}  // namespace detail

inline constexpr std::uint32_t kEverybody = 0xffffffffU;

/// Looks for some microseconds without reading the clock or the failure word, each of which takes about as
/// long as a neighbour's store takes to arrive. Returns whether `come()` came to hold.
///
/// Without the pause between the looks, they take the line away from the writer before it has written
/// (measured on two cores of one L3: a barrier of two members then takes 70 ns). The caller has looked
/// already, so the pause is before the first look.
template <class Come>
[[nodiscard]] bool look_briefly(Come come) {
    constexpr int looks = 2000;
    for (int look = 0; look < looks; ++look) {
        detail::look_again();
        if (come()) return true;
    }
    return false;
}

/// Returns as soon as `reached(value)` holds for the word's value. `tick()` is called now and then and may
/// throw to end the wait; so may the patience's Failure (MemberLost).
template <class Reached, class Tick>
void wait_until(WordAt word, Reached reached, const Patience& patience, Tick tick,
                std::uint32_t bits = kEverybody) {
    constexpr int looks_between_clocks = 32;
    const auto come = [&] { return reached(word.value.load(std::memory_order_acquire)); };
    if (come()) return;
    if (patience.spin_ns > 0) {
        if (look_briefly(come)) return;
        const std::int64_t until = detail::now_ns() + patience.spin_ns;
        do {
            for (int look = 0; look < looks_between_clocks; ++look) {
                detail::relax();
                if (come()) return;
            }
        } while (detail::now_ns() < until);
    }
    for (int yield = 0; yield < patience.yields; ++yield) {
        detail::give_way();
        if (come()) return;
    }
    // All accesses are in one total order: a writer that found no sleeper wrote before this one looked again.
    const detail::SleeperCount counted(word);
    while (true) {
        const std::uint32_t value = word.value.load();
        if (reached(value)) return;
        if (patience.failure != nullptr) patience.failure->check();
        tick();
        detail::sleep_on(word.value, value, bits);
    }
}

template <class Reached>
void wait_until(WordAt word, Reached reached, const Patience& patience) {
    wait_until(word, reached, patience, [] {});
}

/// Wakes the sleepers of the word; to be called after its value was changed.
inline void wake_sleepers(WordAt word, std::uint32_t bits = kEverybody) noexcept {
    if (word.sleepers.load() != 0) detail::wake(word.value, bits);
}

/// Gives the word a value and wakes its sleepers.
inline void publish(WordAt word, std::uint32_t value) noexcept {
    detail::store(word.value, value);
    wake_sleepers(word);
}

}  // namespace strata::team
