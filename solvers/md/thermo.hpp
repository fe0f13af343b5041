// Temperature, energies and pressure.
#pragma once

#include "solvers/md/labels.hpp"
#include "solvers/md/settings.hpp"

namespace strata::md {

[[nodiscard]] Thermo make_thermo(graph::Graph& graph);

/// Of all v: sums[kKinetic ...] are those of v v / 2 (xx yy zz xy xz yz), sums[kMomentum ...] those of v.
void sum_velocities(std::int64_t count, const double* const v[3], double* sums);

/// A task that finds them of the sums of steps in which these are due; else they stay what they were.
void find_thermo(graph::Scope& scope, const Settings& settings, const Labels& labels);

}  // namespace strata::md
