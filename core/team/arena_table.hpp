// The table of arrays at the beginning of every arena. For the arena's own sources.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/team/arena.hpp"
#include "core/team/lock.hpp"

namespace strata::team {

struct Arena::Entry {
    std::atomic<std::uint32_t> used{0};
    Placing::Where where = Placing::Where::first_touch;
    std::uint64_t offset = 0, bytes = 0, reserved = 0;
    std::uint64_t grain = 0;                    // blocks end on multiples of it
    std::uint32_t first_owner = 0, owners = 0;  // its part of Header::owners
    char name[kLongestName + 1] = {};
};

struct Arena::Header {
    /// Room for the owners' memories of all arrays that are bound or blocked.
    static constexpr std::uint32_t kMostOwners = 1 << 16;

    Failure failure;
    Lock lock;
    std::uint64_t file_bytes = 0;
    /// The number of entries that have been used.
    std::atomic<std::uint32_t> known{0};
    // Not initialised: they are zero already, and writing zeros would allocate pages.
    std::int16_t owners[kMostOwners];
    alignas(Entry) std::byte table[kMostArrays * sizeof(Entry)];

    [[nodiscard]] std::span<Entry> entries() {
        return {reinterpret_cast<Entry*>(table), known.load(std::memory_order_acquire)};
    }
};

}  // namespace strata::team
