#include "core/run/case/grid_keys.hpp"

namespace strata::graph {

void GridKeys::declare_grid(CaseSchema& keys, const std::string& otherwise) {
    keys.key("grid.cells", &cells,
             {.least = 1,
              .most = 1 << 20,
              .entries = {2, 3},
              .required = true,
              .meaning = "in each direction; two or three directions"});
    keys.key("grid.patch", &patch_cells,
             {.least = 2,
              .most = 1 << 20,
              .entries = {2, 3},
              .meaning = "cells of a patch, in each direction; all that the grid has, where it has fewer"});
    keys.key("grid.size", &size,
             {.unit = "m", .least = 0, .above_least = true, .entries = {2, 3}, .meaning = "of the domain"});
    keys.key("grid.periodic", &periodic, {.meaning = otherwise});
}

void GridKeys::check_grid(const CaseSchema& keys, std::int64_t least,
                          std::initializer_list<std::pair<const char*, std::size_t>> lists) const {
    const auto long_enough = [&](const char* key, std::size_t entries) {
        if (entries < cells.size())
            keys.refuse(key, "an entry for each direction of the grid is needed",
                        std::to_string(cells.size()) + " entries, as grid.cells has");
    };
    long_enough("grid.patch", patch_cells.size());
    long_enough("grid.size", size.size());
    for (const auto& [key, entries] : lists) long_enough(key, entries);
    for (const std::int64_t each : cells)
        if (each < least)
            keys.refuse("grid.cells", "a direction has too few cells",
                        ">= " + std::to_string(least) + " in each");
}

GridShape GridKeys::shape() const {
    GridShape shape;
    shape.cells.hi = {1, 1, 1};
    shape.patch_cells = {1, 1, 1};
    for (std::size_t d = 0; d < cells.size(); ++d) {
        shape.cells.hi[d] = static_cast<int>(cells[d]);
        shape.patch_cells[d] = static_cast<int>(patch_cells[d]);
        shape.periodic[d] = periodic;
        shape.spacing[d] = size[d] / static_cast<double>(cells[d]);
    }
    return shape;
}

}  // namespace strata::graph
