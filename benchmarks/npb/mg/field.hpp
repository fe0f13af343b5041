#pragma once

#include <cstddef>
#include <cstdint>

namespace strata::npb::mg {

/// One plane of a field: at(y)[x], x from -1 to nx and y from -1 to ny, the outer ones being neighbours'
/// values.
struct Plane {
    double* origin = nullptr;  // of (0, 0)
    std::ptrdiff_t row = 0;
    [[nodiscard]] double* at(std::int64_t y) const { return origin + y * row; }
};

/// A block of a grid with one layer of neighbours' values around it. Points (0, 0, 0) to (nx - 1, ny - 1,
/// nz - 1) are its own. Rows begin on cache lines: the value left of a row lies at the end of the line in
/// which the value right of the row before it lies, so that they cost one line together.
struct Field {
    double* origin = nullptr;
    std::ptrdiff_t row = 0, layer = 0;
    std::int64_t nx = 0, ny = 0, nz = 0;

    [[nodiscard]] Plane plane(std::int64_t z) const { return {origin + z * layer, row}; }
    [[nodiscard]] double& at(std::int64_t x, std::int64_t y, std::int64_t z) const {
        return origin[z * layer + y * row + x];
    }
    /// The same memory seen from another point as a block of another size.
    [[nodiscard]] Field part(std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t width,
                             std::int64_t height, std::int64_t depth) const {
        return {&at(x, y, z), row, layer, width, height, depth};
    }

    static constexpr std::int64_t kLine = 8;  // doubles of a cache line
    [[nodiscard]] static std::ptrdiff_t row_of(std::int64_t nx) {
        return (nx + kLine - 1) / kLine * kLine + kLine;
    }
    [[nodiscard]] static std::ptrdiff_t layer_of(std::int64_t nx, std::int64_t ny) {
        return row_of(nx) * (ny + 2);
    }
    /// Doubles that a block of `planes` own planes takes.
    [[nodiscard]] static std::size_t doubles(std::int64_t nx, std::int64_t ny, std::int64_t planes) {
        return static_cast<std::size_t>(layer_of(nx, ny) * (planes + 2) + 2 * kLine);
    }
    /// A block in memory of that size, aligned to cache lines.
    [[nodiscard]] static Field in(double* memory, std::int64_t nx, std::int64_t ny, std::int64_t nz) {
        const std::ptrdiff_t row = row_of(nx), layer = layer_of(nx, ny);
        return {memory + layer + row + kLine, row, layer, nx, ny, nz};
    }
};

}  // namespace strata::npb::mg
