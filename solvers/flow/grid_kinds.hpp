// The kinds of grids that cases may have made: one table, from which keys, their help and generators follow.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "methods/curvilinear/generate.hpp"
#include "solvers/flow/settings.hpp"

namespace strata::flow {

struct GridKind {
    std::string_view name;   // in `grid.kind`
    std::string_view about;  // for the help
    std::string_view cells;  // what the numbers of `grid.cells` are
    std::size_t least_cells, most_cells;
    /// The generator's numbers, of a case's. Throws Error with the key's place.
    Generator (*generator)(const GridKeys& grid, const std::vector<int>& cells,
                           const graph::CaseSchema& keys);
    /// Declares keys of this kind alone, bound to its generator's own numbers. `of`: "grid.", "mesh.NAME.".
    void (*add_keys)(graph::CaseSchema& keys, const std::string& of, GeneratorNumbers& own) = nullptr;
};

[[nodiscard]] std::span<const GridKind> grid_kinds();

/// The generator of a grid that is made. Throws Error with the key's place.
[[nodiscard]] Generator generator_of(const GridKeys& grid, const graph::CaseSchema& keys);

}  // namespace strata::flow
