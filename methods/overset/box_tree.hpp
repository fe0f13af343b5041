// Boxes in an alternating digital tree: which of them meet a window?
//
// J. Bonet, J. Peraire, An alternating digital tree (ADT) algorithm for 3D geometric searching and
// intersection problems, Int. J. Numer. Meth. Eng. 31 (1991) 1. A box is a point in six dimensions, its lower
// and its upper corner, and levels divide along these by turns. The tree divides at medians, so its depth is
// the logarithm of the number of boxes however they lie.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/graph/declare/box.hpp"

namespace strata::overset {

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
};

class BoxTree {
  public:
    BoxTree() = default;
    explicit BoxTree(std::vector<Bounds> boxes);

    /// Calls call(number) for each box that meets the window, in the order of the tree.
    template <class Call>
    void meeting(const Bounds& window, Call&& call) const {
        struct Part {
            std::int32_t begin, end;
            std::int32_t level;
        };
        std::array<Part, 64> stack;
        std::size_t depth = 0;
        if (!items_.empty()) stack[depth++] = {0, static_cast<std::int32_t>(items_.size()), 0};
        while (depth > 0) {
            const Part part = stack[--depth];
            if (part.end - part.begin <= kLeaf) {
                for (std::int32_t i = part.begin; i < part.end; ++i)
                    if (at(i).box.meets(window)) call(at(i).number);
                continue;
            }
            const std::int32_t middle = part.begin + (part.end - part.begin) / 2;
            const Item& item = at(middle);
            const auto d = static_cast<std::size_t>(part.level % 3);
            const bool of_lower = part.level % 6 < 3;
            if (item.box.meets(window)) call(item.number);
            // Below are boxes with a smaller corner, above those with a larger one.
            if (!of_lower || item.box.lo[d] <= window.hi[d])
                stack[depth++] = {middle + 1, part.end, part.level + 1};
            if (of_lower || item.box.hi[d] >= window.lo[d])
                stack[depth++] = {part.begin, middle, part.level + 1};
        }
    }
    [[nodiscard]] const Bounds& bounds() const { return bounds_; }
    [[nodiscard]] std::size_t size() const { return items_.size(); }
    [[nodiscard]] std::size_t bytes() const { return items_.capacity() * sizeof(Item); }

  private:
    static constexpr std::int32_t kLeaf = 6;
    struct Item {
        Bounds box;
        std::int32_t number;
    };
    [[nodiscard]] const Item& at(std::int32_t i) const { return items_[static_cast<std::size_t>(i)]; }
    void build(std::int32_t begin, std::int32_t end, int level);

    std::vector<Item> items_;
    Bounds bounds_;
};

}  // namespace strata::overset
