// A bounding volume hierarchy: items in a tree of boxes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "methods/geometry/facet.hpp"

namespace strata::geometry {

/// A box with a number.
struct NumberedBox {
    Bounds box;
    std::int32_t number = 0;
};
[[nodiscard]] inline const Bounds& bounds_of(const NumberedBox& item) { return item.box; }
[[nodiscard]] inline Real3 place_of(const NumberedBox& item) {
    const auto& [lo, hi] = item.box;
    return {lo[0] + hi[0], lo[1] + hi[1], lo[2] + hi[2]};
}

/// Items, four or fewer in a leaf: 56 bytes a node beside the items. For each there is bounds_of(item), and
/// place_of(item): a node's items are divided at the median of these, along the axis on which they lie
/// furthest apart. So the depth is the logarithm of the number of items, however they lie.
template <class Item>
class Tree {
  public:
    Tree() = default;
    explicit Tree(std::vector<Item> items) : items_(std::move(items)) {
        if (!items_.empty()) build(0, static_cast<std::int32_t>(items_.size()));
    }

    /// Calls call(item) for each item whose bounds meet the window, in the order of the tree.
    template <class Call>
    void meeting(const Bounds& window, Call&& call) const {
        std::array<std::int32_t, kDepth> waiting;
        std::size_t count = 0;
        if (!nodes_.empty()) waiting[count++] = 0;
        while (count > 0) {
            const std::int32_t number = waiting[--count];
            const Node& node = at(number);
            if (!node.box.meets(window)) continue;
            if (node.end >= 0) {
                for (std::int32_t n = node.begin; n < node.end; ++n)
                    if (bounds_of(item(n)).meets(window)) call(item(n));
                continue;
            }
            waiting[count++] = node.begin, waiting[count++] = number + 1;
        }
    }
    /// The smaller of `bound` and the least squared_distance(x, item).
    [[nodiscard]] double nearest(const Real3& x, double bound = Bounds::kNone) const {
        if (nodes_.empty()) return bound;
        struct Waiting {
            std::size_t node;  // eight bytes as `least` has: with four the search takes a quarter longer
            double least;
        };
        const auto away = [&](std::size_t node) {
            return Waiting{node, nodes_[node].box.squared_distance(x)};
        };
        std::array<Waiting, kDepth> waiting;
        std::size_t count = 0;
        waiting[count++] = away(0);
        while (count > 0) {
            const auto [number, least] = waiting[--count];
            if (least >= bound) continue;
            const Node& node = nodes_[number];
            if (node.end >= 0) {
                for (std::int32_t n = node.begin; n < node.end; ++n)
                    bound = std::min(bound, squared_distance(x, item(n)));
                continue;
            }
            Waiting near = away(number + 1), far = away(static_cast<std::size_t>(node.begin));
            if (far.least < near.least) std::swap(near, far);
            waiting[count++] = far, waiting[count++] = near;
        }
        return bound;
    }
    [[nodiscard]] Bounds bounds() const { return nodes_.empty() ? Bounds{} : nodes_[0].box; }
    [[nodiscard]] const std::vector<Item>& items() const { return items_; }
    [[nodiscard]] std::size_t bytes() const {
        return sizeof *this + items_.capacity() * sizeof(Item) + nodes_.capacity() * sizeof(Node);
    }

  private:
    static constexpr std::int32_t kLeaf = 4;
    static constexpr std::size_t kDepth = 64;  // halves of at most 2^31 items
    struct Node {
        Bounds box;
        std::int32_t begin, end;  // items; of an inner node: end = -1, its first child is the next node and
                                  // its second one `begin`
    };
    [[nodiscard]] const Node& at(std::int32_t n) const { return nodes_[static_cast<std::size_t>(n)]; }
    [[nodiscard]] const Item& item(std::int32_t n) const { return items_[static_cast<std::size_t>(n)]; }

    void build(std::int32_t begin, std::int32_t end) {
        const std::size_t number = nodes_.size();
        Bounds around, places;
        for (std::int32_t n = begin; n < end; ++n) {
            around.add(bounds_of(item(n)));
            places.add(place_of(item(n)));
        }
        nodes_.push_back({around, begin, end});
        if (end - begin <= kLeaf) return;
        const Real3 size = minus(places.hi, places.lo);
        const auto axis = static_cast<std::size_t>(std::max_element(size.begin(), size.end()) - size.begin());
        const std::int32_t half = begin + (end - begin) / 2;
        std::nth_element(items_.begin() + begin, items_.begin() + half, items_.begin() + end,
                         [&](const Item& a, const Item& b) { return place_of(a)[axis] < place_of(b)[axis]; });
        nodes_[number].end = -1;
        build(begin, half);
        nodes_[number].begin = static_cast<std::int32_t>(nodes_.size());
        build(half, end);
    }

    std::vector<Item> items_;
    std::vector<Node> nodes_;
};

}  // namespace strata::geometry
