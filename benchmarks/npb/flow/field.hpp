#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "benchmarks/npb/common/vector.hpp"
#include "benchmarks/npb/flow/equations.hpp"

namespace strata::npb::flow {

/// A box of a grid. Points are counted from its own first one, unless said otherwise.
struct Tile {
    Index n{};      // points of the grid
    Index begin{};  // the first own point, in the grid
    Index size{};   // own points
    Scale scale{};  // of the grid

    /// A whole grid.
    [[nodiscard]] static Tile whole(const Index& n, const Scale& scale) { return {n, {}, n, scale}; }
    /// Own points within the grid's boundary, [first, last) along a direction.
    [[nodiscard]] std::int64_t first(std::size_t d) const { return begin[d] == 0 ? 1 : 0; }
    [[nodiscard]] std::int64_t last(std::size_t d) const {
        return begin[d] + size[d] == n[d] ? size[d] - 1 : size[d];
    }
    [[nodiscard]] std::int64_t points() const { return size[0] * size[1] * size[2]; }
};

[[nodiscard]] constexpr std::int64_t round_up(std::int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

/// Five components at each point of a box and of two layers around it. Row by row: a row along x of the first
/// component, one of the second, and so on, then the next rows in y. Rows begin on cache lines and are read
/// in eights; behind their own points is room for the rest of the last eight, the two points to the right
/// and, at the end, the two left of the next row.
struct Field {
    double* origin = nullptr;  // of the first component at (0, 0, 0)
    std::int64_t row = 0, line = 0, plane = 0;

    static constexpr std::int64_t kLayers = 2;

    [[nodiscard]] double* at(std::int64_t y, std::int64_t z) const { return origin + y * line + z * plane; }
    [[nodiscard]] double& at(int m, std::int64_t x, std::int64_t y, std::int64_t z) const {
        return origin[x + m * row + y * line + z * plane];
    }
    [[nodiscard]] static std::size_t doubles(const Index& size) {
        const Field f = in(nullptr, size);
        return static_cast<std::size_t>(f.plane * (size[2] + 2 * kLayers) + 2 * kLanes);
    }
    /// A field in so much memory, aligned to cache lines.
    [[nodiscard]] static Field in(double* memory, const Index& size) {
        Field f;
        f.row = round_up(size[0]) + kLanes;
        f.line = f.row * kComponents;
        f.plane = f.line * (size[1] + 2 * kLayers);
        if (memory != nullptr) f.origin = memory + kLanes + kLayers * (f.line + f.plane);
        return f;
    }
};

}  // namespace strata::npb::flow
