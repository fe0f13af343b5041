// A thread's record of its latest operations and their times, in a ring buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/graph/execute/ticks.hpp"

namespace strata::graph {

/// One operation, or part of one: of a loop that several threads shared, or a call that returned
/// Outcome::later. Times are seconds on the system's clock (CLOCK_MONOTONIC), which all processes of a node
/// share.
struct Record {
    static constexpr std::uint32_t kWaiting = 0xffffffffU;
    std::uint32_t op = kWaiting;  // in Program::ops; or kWaiting: nothing was ready
    std::uint32_t step = 0;       // the epoch of scope 0
    double begin = 0, end = 0;
};

namespace detail {

/// Written by one thread. The end of one entry is the beginning of the next, so the clock is read once for
/// each.
class Ring {
  public:
    /// Room for the last `entries` (rounded up to a power of two).
    explicit Ring(std::size_t entries);

    void begin(std::uint64_t now) { last_ = now; }
    void put(std::uint32_t op, std::uint32_t step, std::uint64_t now) {
        entries_[next_++ & mask_] = {last_, now, op, step};
        last_ = now;
    }
    /// Nothing was ready since the last entry; waits in a row are one entry.
    void wait(std::uint32_t step, std::uint64_t now) {
        if (next_ > 0) {
            Entry& before = entries_[(next_ - 1) & mask_];
            if (before.op == Record::kWaiting && before.end == last_ && before.step == step) {
                before.end = last_ = now;
                return;
            }
        }
        put(Record::kWaiting, step, now);
    }
    /// From the oldest one that is left.
    [[nodiscard]] std::vector<Record> read(const TickRate& rate) const;
    /// The number of entries ever put.
    [[nodiscard]] std::uint64_t count() const { return next_; }

  private:
    struct Entry {
        std::uint64_t begin, end;
        std::uint32_t op, step;
    };
    std::vector<Entry> entries_;
    std::uint64_t mask_;
    std::uint64_t next_ = 0, last_ = 0;
};

}  // namespace detail
}  // namespace strata::graph
