#include "core/graph/execute/record.hpp"

#include <algorithm>
#include <bit>

namespace strata::graph::detail {

Ring::Ring(std::size_t entries) : entries_(std::bit_ceil(std::max<std::size_t>(entries, 2))) {
    mask_ = entries_.size() - 1;
}

std::vector<Record> Ring::read(const TickRate& rate) const {
    const std::uint64_t kept = std::min<std::uint64_t>(next_, entries_.size());
    std::vector<Record> all;
    all.reserve(kept);
    for (std::uint64_t i = next_ - kept; i < next_; ++i) {
        const Entry& entry = entries_[i & mask_];
        all.push_back({entry.op, entry.step, rate.monotonic(entry.begin), rate.monotonic(entry.end)});
    }
    return all;
}

}  // namespace strata::graph::detail
