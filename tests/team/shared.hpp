// Threads in the role of members: what the primitives need is memory that all see, and ThreadSanitizer sees
// threads only.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "core/team/barrier.hpp"

namespace strata::team::testing {

/// Zeroed memory, as an arena gives it.
class Zeros {
  public:
    explicit Zeros(std::size_t bytes)
        : memory_(std::aligned_alloc(kApart, (bytes + kApart - 1) / kApart * kApart), std::free) {
        if (!memory_) throw std::bad_alloc();
        std::memset(memory_.get(), 0, bytes);
    }
    [[nodiscard]] void* get() const { return memory_.get(); }

  private:
    std::unique_ptr<void, void (*)(void*)> memory_;
};

/// Runs `body(member)` in `members` threads; rethrows the first exception by number of member.
inline void as_members(int members, const std::function<void(int)>& body) {
    std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(members));
    std::vector<std::thread> threads;
    for (int m = 0; m < members; ++m)
        threads.emplace_back([&, m] {
            try {
                body(m);
            } catch (...) {
                thrown[static_cast<std::size_t>(m)] = std::current_exception();
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& exception : thrown)
        if (exception) std::rethrow_exception(exception);
}

/// A barrier in memory of its own.
struct SharedBarrier {
    explicit SharedBarrier(const Neighbourhood& near, int fan_in = kFanIn, bool flat = false,
                           std::uint32_t before = 0)
        : tree(barrier_tree(near, fan_in, flat)), memory(Barrier::bytes(tree)) {
        Barrier::form(memory.get(), tree, before);
    }
    [[nodiscard]] Barrier of(int member, const Patience& patience,
                             const Departures* departures = nullptr) const {
        return {memory.get(), member, patience, departures};
    }
    BarrierTree tree;
    Zeros memory;
};

/// More threads than this machine has CPUs, mostly: no spinning.
inline Patience patient(const Failure* failure = nullptr) { return Patience::crowded(failure); }

}  // namespace strata::team::testing
