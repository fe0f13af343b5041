// An operation's view of the thread that runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "core/graph/execute/program.hpp"

namespace strata::graph {

class Worker {
  public:
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// The number of this thread and the number of threads of the process, e.g. for memory of each thread.
    [[nodiscard]] int thread() const { return thread_; }
    [[nodiscard]] int threads() const { return threads_; }
    /// The epoch of a scope in the operation's round, from 1.
    [[nodiscard]] Epoch epoch(std::uint16_t scope = 0) const { return epochs_[scope]; }

    /// Calls body(first, last), or body(first, last, thread), for parts of begin .. end of `grain` each (the
    /// last may be smaller). Threads that become free take parts too, at most Op::threads at once. Which
    /// thread gets which part is not determined. The first exception ends the loop and is thrown again here.
    template <class Body>
    void parallel_for(std::int64_t begin, std::int64_t end, Body&& body, std::int64_t grain = 1) {
        using Held = std::remove_reference_t<Body>;
        const auto part = [](void* held, std::int64_t first, std::int64_t last, int thread) {
            if constexpr (std::is_invocable_v<Held&, std::int64_t, std::int64_t, int>)
                (*static_cast<Held*>(held))(first, last, thread);
            else
                (*static_cast<Held*>(held))(first, last);
        };
        if (begin < end)
            share({part, const_cast<void*>(static_cast<const void*>(std::addressof(body))), begin, end,
                   grain < 1 ? 1 : grain});
    }

    /// Room in which operations keep what the thread's next one may need too, in this batch. `of`: what it
    /// is; null at first.
    static constexpr std::size_t kRoom = 1920;
    struct Kept {
        const void* of = nullptr;
        alignas(64) std::byte room[kRoom];  // not initialized
    };
    [[nodiscard]] Kept& kept() { return kept_; }

  protected:
    struct Parts {
        void (*part)(void* held, std::int64_t first, std::int64_t last, int thread) = nullptr;
        void* held = nullptr;
        std::int64_t begin = 0, end = 0, grain = 1;
    };

    Worker(int thread, int threads, const Epoch* epochs)
        : thread_(thread), threads_(threads), epochs_(epochs) {}
    ~Worker() = default;
    virtual void share(const Parts& parts) = 0;

    int thread_, threads_;
    const Epoch* epochs_;  // [scope]

  private:
    Kept kept_;
};

}  // namespace strata::graph
