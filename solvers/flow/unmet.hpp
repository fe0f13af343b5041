// What a case names and the grid has not.
#pragma once

#include <vector>

#include "methods/curvilinear/grid.hpp"
#include "solvers/flow/boundary/conditions.hpp"
#include "solvers/flow/settings.hpp"

namespace strata::flow {

/// Throws Error with the key's place where a case asks for walls and has none (their files, forces on them),
/// for a station of a rotor where no blade is, or for a vortex or a shock tube that the grid has nothing of.
/// (Boundaries: FlowZones; slices: case_slices(); probes: declare_probes().)
void check_met(const Settings& settings, const graph::CaseSchema& keys, const GridSystem& grid,
               const std::vector<Boundary>& boundaries);

}  // namespace strata::flow
