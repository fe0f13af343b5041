// Locks, counters and signals in shared memory. Each starts as zeros and lies apart from its neighbours.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/team/failure.hpp"
#include "core/team/waiting.hpp"

namespace strata::team {

/// A ticket lock: first come, first served. A release wakes only the next of the sleepers.
class Lock {
  public:
    /// Throws MemberLost when any member dies during the wait.
    void acquire(const Patience& patience) {
        const std::uint32_t ticket = next_.fetch_add(1);
        wait_until(
            serving_, [ticket](std::uint32_t now) { return now == ticket; }, patience, [] {}, bit(ticket));
    }
    void release() noexcept {
        const std::uint32_t next = serving_.value.load(std::memory_order_relaxed) + 1;
        serving_.value.store(next);
        wake_sleepers(serving_, bit(next));
    }

  private:
    static std::uint32_t bit(std::uint32_t ticket) { return 1U << (ticket % 32); }

    alignas(kApart) std::atomic<std::uint32_t> next_{0};
    alignas(kApart) Word serving_;
};

/// Holds a lock for a scope.
class Holding {
  public:
    Holding(Lock& lock, const Patience& patience) : lock_(lock) { lock_.acquire(patience); }
    ~Holding() { lock_.release(); }
    Holding(const Holding&) = delete;
    Holding& operator=(const Holding&) = delete;

  private:
    Lock& lock_;
};

/// A number that members count up, e.g. the next piece of work.
class Counter {
  public:
    /// Adds `step` and returns the number before. A member that takes a later number sees the writes made
    /// before this one was taken.
    std::int64_t take(std::int64_t step = 1) noexcept { return value_.fetch_add(step); }
    [[nodiscard]] std::int64_t value() const noexcept { return value_.load(); }
    void set(std::int64_t value) noexcept { value_.store(value); }

  private:
    alignas(kApart) std::atomic<std::int64_t> value_{0};
};

/// A signal of one member to many: a number that grows by one with each call. Writes before raise() are
/// visible to each member that has waited for it.
class Signal {
  public:
    /// Only one member at a time may raise. Returns the new number.
    std::uint32_t raise() noexcept {
        const std::uint32_t next = word_.value.load(std::memory_order_relaxed) + 1;
        publish(word_, next);
        return next;
    }
    [[nodiscard]] std::uint32_t number() const noexcept {
        return word_.value.load(std::memory_order_acquire);
    }
    /// Waits until the number is `number` or later (it wraps around). Throws MemberLost.
    void wait_for(std::uint32_t number, const Patience& patience) {
        wait_until(
            word_, [number](std::uint32_t now) { return static_cast<std::int32_t>(now - number) >= 0; },
            patience);
    }

  private:
    alignas(kApart) Word word_;
};

}  // namespace strata::team
