// Boxes along the axes of space.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/graph/declare/box.hpp"

namespace strata::geometry {

using graph::Real3;

/// A box in space; none: lo = +infinity, hi = -infinity. In two dimensions the third side is a point.
struct Bounds {
    static constexpr double kNone = std::numeric_limits<double>::infinity();
    Real3 lo{kNone, kNone, kNone}, hi{-kNone, -kNone, -kNone};

    void add(const Real3& x) {
        for (std::size_t d = 0; d < 3; ++d) lo[d] = std::min(lo[d], x[d]), hi[d] = std::max(hi[d], x[d]);
    }
    void add(const Bounds& other) {
        for (std::size_t d = 0; d < 3; ++d)
            lo[d] = std::min(lo[d], other.lo[d]), hi[d] = std::max(hi[d], other.hi[d]);
    }
    [[nodiscard]] bool contains(const Real3& x) const {
        for (std::size_t d = 0; d < 3; ++d)
            if (!(x[d] >= lo[d] && x[d] <= hi[d])) return false;
        return true;
    }
    [[nodiscard]] bool meets(const Bounds& other) const {
        for (std::size_t d = 0; d < 3; ++d)
            if (!(lo[d] <= other.hi[d] && hi[d] >= other.lo[d])) return false;
        return true;
    }
    /// Grown by a share of its largest side on all sides.
    [[nodiscard]] Bounds grown(double share) const {
        Bounds made = *this;
        double side = 0;
        for (std::size_t d = 0; d < 3; ++d) side = std::max(side, hi[d] - lo[d]);
        for (std::size_t d = 0; d < 3; ++d) made.lo[d] -= share * side, made.hi[d] += share * side;
        return made;
    }
    /// The square of the distance between two boxes; 0 where they meet.
    [[nodiscard]] double squared_distance(const Bounds& other) const {
        double sum = 0;
        for (std::size_t d = 0; d < 3; ++d) {
            const double out = std::max({lo[d] - other.hi[d], 0.0, other.lo[d] - hi[d]});
            sum += out * out;
        }
        return sum;
    }
    /// To a point; 0 inside.
    [[nodiscard]] double squared_distance(const Real3& x) const { return squared_distance(Bounds{x, x}); }
};

/// Boxes as numbers whose least over all processes are those of the boxes around all: lo, then -hi.
template <class Numbers>
[[nodiscard]] Bounds bounds_in(const Numbers& all, std::int64_t number) {
    Bounds box;
    for (std::size_t d = 0; d < 3; ++d) {
        box.lo[d] = all[6 * number + static_cast<std::int64_t>(d)];
        box.hi[d] = -all[6 * number + static_cast<std::int64_t>(d) + 3];
    }
    return box;
}
template <class Numbers>
void put_bounds(const Numbers& all, std::int64_t number, const Bounds& box) {
    for (std::size_t d = 0; d < 3; ++d) {
        all[6 * number + static_cast<std::int64_t>(d)] = box.lo[d];
        all[6 * number + static_cast<std::int64_t>(d) + 3] = -box.hi[d];
    }
}

}  // namespace strata::geometry
