// Random grids, and who owns a value, found by looking at every patch.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "core/graph/declare/family.hpp"

namespace strata::tests {

using graph::Box;
using graph::Grid;
using graph::GridShape;
using graph::Int3;
using graph::On;

inline int pick(std::mt19937_64& random, int least, int most) {
    return least +
           static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));  // the same everywhere
}

inline constexpr On kAllOn[] = {On::cells, On::nodes, On::faces_x, On::faces_y, On::faces_z};

/// Boxes that fill the domain: it is cut in two until there are `count` or nothing is left to cut.
inline std::vector<Box> cut(std::mt19937_64& random, const Box& domain, int count) {
    std::vector<Box> boxes{domain};
    for (int tries = 0; static_cast<int>(boxes.size()) < count && tries < 10 * count; ++tries) {
        Box& box = boxes[static_cast<std::size_t>(pick(random, 0, static_cast<int>(boxes.size()) - 1))];
        const int axis = pick(random, 0, 2);
        const auto a = static_cast<std::size_t>(axis);
        if (box.extent(axis) < 2) continue;
        Box upper = box;
        upper.lo[a] = box.hi[a] = pick(random, box.lo[a] + 1, box.hi[a] - 1);
        boxes.push_back(upper);
    }
    std::shuffle(boxes.begin(), boxes.end(), random);
    return boxes;
}

/// A small grid of any kind: one, two or three directions, periodic or not, regular or not, with gaps or not.
inline std::unique_ptr<Grid> any_grid(std::mt19937_64& random) {
    GridShape shape;
    for (std::size_t a = 0; a < 3; ++a) {
        const int cells = pick(random, 0, 3) == 0 ? 1 : pick(random, 2, 9);
        shape.cells.lo[a] = pick(random, -3, 3);
        shape.cells.hi[a] = shape.cells.lo[a] + cells;
        shape.patch_cells[a] = pick(random, 1, cells + 1);
        shape.periodic[a] = pick(random, 0, 1) == 1;
    }
    if (pick(random, 0, 1) == 0) return std::make_unique<Grid>("regular", shape);
    std::vector<Box> boxes = cut(random, shape.cells, pick(random, 1, 12));
    if (pick(random, 0, 2) == 0 && boxes.size() > 2) boxes.resize(boxes.size() - boxes.size() / 3);
    return std::make_unique<Grid>("irregular", shape, boxes);
}

inline Int3 any_width(std::mt19937_64& random, int most) {
    return {pick(random, 0, most), pick(random, 0, most), pick(random, 0, most)};
}

/// The patch that owns the value at these indices, and where its own indices for it are; -1: nobody.
struct Owner {
    int patch = -1;
    Int3 at{};
};
inline Owner owner_of(const Grid& grid, Int3 at, On on, const Int3& border) {
    const GridShape& shape = grid.shape();
    for (std::size_t a = 0; a < 3; ++a)
        if (shape.periodic[a]) {
            const int length = shape.cells.extent(static_cast<int>(a));
            at[a] = shape.cells.lo[a] + ((at[a] - shape.cells.lo[a]) % length + length) % length;
        }
    for (int p = 0; p < grid.patches(); ++p)
        if (grid.owned(p, on, border).contains(at)) return {p, at};
    return {};
}

template <class Do>
void each_index(const Box& box, Do&& what) {
    for (int z = box.lo[2]; z < box.hi[2]; ++z)
        for (int y = box.lo[1]; y < box.hi[1]; ++y)
            for (int x = box.lo[0]; x < box.hi[0]; ++x) what(Int3{x, y, z});
}

inline Int3 plus(const Int3& a, const Int3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline Int3 minus(const Int3& a, const Int3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

}  // namespace strata::tests
