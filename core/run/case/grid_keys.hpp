// The keys of cases on one structured grid, for solvers' settings:
//
//   struct Settings : graph::GridKeys { double diffusivity = 1; } settings;
//   settings.declare_grid(keys, "else the borders are walls");
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/declare/relation.hpp"
#include "core/run/case/case.hpp"

namespace strata::graph {

/// The values before reading are the defaults. Lists have an entry for each direction of the grid, two or
/// three.
struct GridKeys {
    std::vector<std::int64_t> cells, patch_cells{1 << 20, 32, 32};
    std::vector<double> size{1, 1, 1};  // m
    bool periodic = true;

    /// grid.cells, grid.patch, grid.size and grid.periodic; `otherwise`: what borders are that are not
    /// periodic.
    void declare_grid(CaseSchema& keys, const std::string& otherwise);
    /// Throws Error with the key's place where a direction has fewer than `least` cells, or where a list, one
    /// of these (key, number of entries) or of the grid's own, has fewer entries than the grid has
    /// directions.
    void check_grid(const CaseSchema& keys, std::int64_t least,
                    std::initializer_list<std::pair<const char*, std::size_t>> lists) const;
    /// Directions that are not there have one cell of length 1.
    [[nodiscard]] GridShape shape() const;
    [[nodiscard]] Real3 spacing() const { return shape().spacing; }
    [[nodiscard]] std::size_t directions() const { return cells.size(); }
    /// So many layers in the directions that are there.
    [[nodiscard]] Ghosts layers(int width) const {
        return ghosts({width, width, directions() == 3 ? width : 0});
    }
};

}  // namespace strata::graph
