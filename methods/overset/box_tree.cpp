#include "methods/overset/box_tree.hpp"

#include <algorithm>

namespace strata::overset {

BoxTree::BoxTree(std::vector<Bounds> boxes) {
    items_.reserve(boxes.size());
    for (std::size_t n = 0; n < boxes.size(); ++n) {
        items_.push_back({boxes[n], static_cast<std::int32_t>(n)});
        bounds_.add(boxes[n]);
    }
    build(0, static_cast<std::int32_t>(items_.size()), 0);
}

void BoxTree::build(std::int32_t begin, std::int32_t end, int level) {
    if (end - begin <= kLeaf) return;
    const std::int32_t middle = begin + (end - begin) / 2;
    const auto d = static_cast<std::size_t>(level % 3);
    const bool of_lower = level % 6 < 3;
    std::nth_element(items_.begin() + begin, items_.begin() + middle, items_.begin() + end,
                     [&](const Item& a, const Item& b) {
                         const double x = of_lower ? a.box.lo[d] : a.box.hi[d],
                                      y = of_lower ? b.box.lo[d] : b.box.hi[d];
                         return x != y ? x < y : a.number < b.number;
                     });
    build(begin, middle, level + 1);
    build(middle + 1, end, level + 1);
}

}  // namespace strata::overset
