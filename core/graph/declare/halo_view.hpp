// Who is in the halo of a patch: for tasks that look particles up by their numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/base/error.hpp"

namespace strata::graph {

/// The particles that a patch sees: its own and those in its halo, in one list. Filled in by the runtime.
struct HaloMembers {
    std::int64_t own = 0, all = 0;
    struct Entry {
        std::int64_t number = -1;
        std::int64_t at = -1;  // -1: free
    };
    std::vector<Entry> table;  // by number, with open addressing; a power of two, or empty

    /// Where a number is, or the free entry that it may take.
    [[nodiscard]] std::size_t place(std::int64_t number) const {
        const std::size_t mask = table.size() - 1;
        auto at = static_cast<std::size_t>((static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15U) >> 20);
        for (at &= mask; table[at].at >= 0 && table[at].number != number;) at = (at + 1) & mask;
        return at;
    }
    /// Forgets all; room for so many.
    void clear(std::int64_t count) {
        const std::size_t size = std::bit_ceil(static_cast<std::size_t>(2 * count + 2));
        table.assign(size < table.size() && size * 4 > table.size() ? table.size() : size, {});
    }
    /// The first of a number stays.
    void add(std::int64_t number, std::int64_t at) {
        Entry& entry = table[place(number)];
        if (entry.at < 0) entry = {number, at};
    }
};

class HaloView {
  public:
    explicit HaloView(const HaloMembers& members) : members_(&members) {}
    /// The patch's own particles: places 0 to own() - 1 of its lists.
    [[nodiscard]] std::int64_t own() const { return members_->own; }
    /// All of them: those in the halo are the places own() to size() - 1.
    [[nodiscard]] std::int64_t size() const { return members_->all; }
    /// The place of the particle with this number, -1 where there is none. One of the patch's own is found as
    /// such; of several images in the halo the first one is. Throws Error where no task said that it finds
    /// them.
    [[nodiscard]] std::int64_t find(std::int64_t number) const {
        if (!members_->table.empty()) return members_->table[members_->place(number)].at;
        if (members_->all == 0) return -1;
        throw Error("particles of a halo are looked up by number, and no task said so")
            .remedy("task.need(halo) in place of task.sizes(halo)");
    }

  private:
    const HaloMembers* members_;
};

}  // namespace strata::graph
