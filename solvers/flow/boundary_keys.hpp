// What cases may say of the boundaries of their grid (BoundaryKeys), and the conditions that follow.
#pragma once

#include <string>
#include <vector>

#include "solvers/flow/boundary/conditions.hpp"
#include "solvers/flow/settings.hpp"

namespace strata::flow {

/// The keys of the table [boundary.NAME].
void add_boundary_keys(graph::CaseSchema& keys, const std::string& name, BoundaryKeys& boundary);

/// The conditions of a case. Throws Error with the key's place.
[[nodiscard]] std::vector<Boundary> case_boundaries(const Settings& settings, const graph::CaseSchema& keys,
                                                    int dimensions);

}  // namespace strata::flow
