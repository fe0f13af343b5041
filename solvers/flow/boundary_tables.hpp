// What a case says of the boundaries of its grid: tables that are proposed where it says nothing.
#pragma once

#include <string>
#include <vector>

#include "methods/curvilinear/grid.hpp"
#include "solvers/flow/settings.hpp"

namespace strata::flow {

/// The kind that a boundary's name lets expect: "wall" and "solid" in it are walls ("slip-wall" without
/// viscosity), "symmetry" is that, "collapsed" an axis; of meshes that overlap all others but those of the
/// first mesh are "overset"; the rest is "far-field".
[[nodiscard]] std::string likely_kind(const std::string& name, const Settings& settings, int dimensions);

/// TOML: a table for each boundary of the grid that the case says nothing of, with its likely kind, and with
/// its faces as a comment. Empty where none is missing.
///   [boundary."1:j-min"]   # j-min of zone 1
///   kind = "far-field"
[[nodiscard]] std::string missing_tables(const GridSystem& grid, const Settings& settings);

/// Throws Error with missing_tables(), and names the tables that no boundary of the grid has.
void check_boundary_tables(const GridSystem& grid, const Settings& settings, const graph::CaseSchema& keys);

}  // namespace strata::flow
