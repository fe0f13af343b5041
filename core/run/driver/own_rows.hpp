// The values of a field that this process's patches own, row by row in place: for loops over all of them
// between steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/simulation/simulation.hpp"

namespace strata::graph {

/// The rows of one patch, without the field's layers beyond the domain.
struct OwnRows {
    Box own;
    std::int64_t number = 0;  // of the patch's first row among all rows

    [[nodiscard]] std::int64_t count() const { return std::int64_t{own.extent(1)} * own.extent(2); }
    /// Where the row-th of them begins.
    [[nodiscard]] Int3 at(std::int64_t row) const {
        return {own.lo[0], own.lo[1] + static_cast<int>(row % own.extent(1)),
                own.lo[2] + static_cast<int>(row / own.extent(1))};
    }
    [[nodiscard]] std::span<const double> values(std::int64_t row) const {
        const Int3 from = at(row);
        const std::byte* there =
            first + (from[1] - own.lo[1]) * strides.row + (from[2] - own.lo[2]) * strides.plane;
        return {reinterpret_cast<const double*>(there), static_cast<std::size_t>(own.extent(0))};
    }

    const std::byte* first = nullptr;
    Strides strides;
};

/// Of all patches, as the field is now.
[[nodiscard]] std::vector<OwnRows> own_rows(const Simulation& simulation, Field<double> field);

}  // namespace strata::graph
