// Boxes of indices, for structured patches, ghosts and messages.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace strata::graph {

using Int3 = std::array<int, 3>;
using Real3 = std::array<double, 3>;

/// The indices i with lo <= i < hi in each direction; x runs fastest in memory.
struct Box {
    Int3 lo{}, hi{};

    [[nodiscard]] int extent(int axis) const {
        const auto a = static_cast<std::size_t>(axis);
        return std::max(0, hi[a] - lo[a]);
    }
    [[nodiscard]] bool empty() const { return extent(0) == 0 || extent(1) == 0 || extent(2) == 0; }
    [[nodiscard]] std::int64_t volume() const {
        return static_cast<std::int64_t>(extent(0)) * extent(1) * extent(2);
    }
    [[nodiscard]] bool contains(const Int3& at) const {
        for (std::size_t a = 0; a < 3; ++a)
            if (at[a] < lo[a] || at[a] >= hi[a]) return false;
        return true;
    }
    [[nodiscard]] bool contains(const Box& other) const {
        if (other.empty()) return true;
        for (std::size_t a = 0; a < 3; ++a)
            if (other.lo[a] < lo[a] || other.hi[a] > hi[a]) return false;
        return true;
    }
    [[nodiscard]] Box grown(const Int3& by) const {
        return {{lo[0] - by[0], lo[1] - by[1], lo[2] - by[2]}, {hi[0] + by[0], hi[1] + by[1], hi[2] + by[2]}};
    }
    [[nodiscard]] Box shifted(const Int3& by) const {
        return {{lo[0] + by[0], lo[1] + by[1], lo[2] + by[2]}, {hi[0] + by[0], hi[1] + by[1], hi[2] + by[2]}};
    }
    friend bool operator==(const Box&, const Box&) = default;
};

/// The intersection; empty (but not normalised) where the boxes do not meet.
[[nodiscard]] inline Box common(const Box& a, const Box& b) {
    Box both;
    for (std::size_t d = 0; d < 3; ++d) {
        both.lo[d] = std::max(a.lo[d], b.lo[d]);
        both.hi[d] = std::min(a.hi[d], b.hi[d]);
    }
    return both;
}

/// The smallest box around both.
[[nodiscard]] inline Box around(const Box& a, const Box& b) {
    if (a.empty()) return b;
    if (b.empty()) return a;
    Box all;
    for (std::size_t d = 0; d < 3; ++d) {
        all.lo[d] = std::min(a.lo[d], b.lo[d]);
        all.hi[d] = std::max(a.hi[d], b.hi[d]);
    }
    return all;
}

}  // namespace strata::graph
