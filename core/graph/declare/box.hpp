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

/// Calls call(i, j, k) for all indices of a box, x fastest.
template <class Call>
void for_each(const Box& box, Call&& call) {
    for (int k = box.lo[2]; k < box.hi[2]; ++k)
        for (int j = box.lo[1]; j < box.hi[1]; ++j)
            for (int i = box.lo[0]; i < box.hi[0]; ++i) call(i, j, k);
}

/// The intersection; empty (but not normalised) where the boxes do not meet.
[[nodiscard]] inline Box common(const Box& a, const Box& b) {
    Box both;
    for (std::size_t d = 0; d < 3; ++d) {
        both.lo[d] = std::max(a.lo[d], b.lo[d]);
        both.hi[d] = std::min(a.hi[d], b.hi[d]);
    }
    return both;
}

/// How an index space lies in another one: axis a of it goes along axis |axes[a]| (counted from 1) of the
/// other, backwards where axes[a] is negative. The values {1, 2, 3} are the same axes. This is the Transform
/// of the CGNS SIDS (GridConnectivity1to1_t), there from a zone to its donor.
/// The fourth number says which rotation vectors undergo on the way (Grid::rotation); 0: none.
using Axes = std::array<std::int8_t, 4>;
inline constexpr Axes kSameAxes{1, 2, 3};

/// Takes indices of the other space ("there") to this one ("here"): here[a] = +-there[|axes[a]| - 1] +
/// shift[a]. Example: axes {-2, 1, 3}, shift {9, 0, 0} take the cell (4, 2, 0) to (7, 4, 0).
struct IndexMap {
    Int3 shift{};
    Axes axes = kSameAxes;

    /// The axis there (from 0) along which axis a lies, and whether it goes backwards.
    [[nodiscard]] std::size_t axis(std::size_t a) const {
        return static_cast<std::size_t>((axes[a] < 0 ? -axes[a] : axes[a]) - 1);
    }
    [[nodiscard]] bool backwards(std::size_t a) const { return axes[a] < 0; }
    [[nodiscard]] Int3 operator()(const Int3& there) const {
        Int3 here;
        for (std::size_t a = 0; a < 3; ++a)
            here[a] = (backwards(a) ? -there[axis(a)] : there[axis(a)]) + shift[a];
        return here;
    }
    [[nodiscard]] Box operator()(const Box& there) const {
        Box here;
        for (std::size_t a = 0; a < 3; ++a) {
            const std::size_t b = axis(a);
            here.lo[a] = (backwards(a) ? 1 - there.hi[b] : there.lo[b]) + shift[a];
            here.hi[a] = (backwards(a) ? 1 - there.lo[b] : there.hi[b]) + shift[a];
        }
        return here;
    }
    /// From here to there.
    [[nodiscard]] IndexMap inverse() const {
        IndexMap back;
        for (std::size_t a = 0; a < 3; ++a) {
            const std::size_t b = axis(a);
            const int number = static_cast<int>(a) + 1;
            back.axes[b] = static_cast<std::int8_t>(backwards(a) ? -number : number);
            back.shift[b] = backwards(a) ? shift[a] : -shift[a];
        }
        return back;
    }
    /// First `inner`, then this one.
    [[nodiscard]] IndexMap after(const IndexMap& inner) const {
        IndexMap both{(*this)(inner.shift), {}};
        for (std::size_t a = 0; a < 3; ++a) {
            const int number = inner.axes[axis(a)];
            both.axes[a] = static_cast<std::int8_t>(backwards(a) ? -number : number);
        }
        return both;
    }
    friend bool operator==(const IndexMap&, const IndexMap&) = default;
};

/// A matrix, row by row, by which vectors in space are multiplied.
using Rotation = std::array<Real3, 3>;
inline constexpr Rotation kNoRotation{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

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
