// Temperature, energies and pressure.
#pragma once

#include <span>

#include "solvers/md/labels.hpp"
#include "solvers/md/potentials/long_range.hpp"
#include "solvers/md/settings.hpp"

namespace strata::md {

[[nodiscard]] Thermo make_thermo(graph::Graph& graph, const Settings& s);

/// What pairs beyond the cutoff add, where the case asks for it. `atoms`: of each kind.
[[nodiscard]] LongRange beyond_cutoff(const Settings& s, std::span<const std::int64_t> atoms);

/// Of all w = v + half f / share: sums[kKinetic ...] are those of share w w / 2 (xx yy zz xy xz yz),
/// sums[kMomentum ...] those of share w. species: none: all atoms are of the first kind, of share 1.
void sum_velocities(std::int64_t count, const double* const v[3], const double* const f[3], double half,
                    const std::int32_t* species, const double* shares, double* sums);

/// What is conserved (thermostats, barostats and forces from outside counted) may grow by so many times the
/// energy of the first state and the work of forces from outside; more ends the run.
inline constexpr double kMostGrowth = 100;

/// A task that finds them of the sums of steps in which these are due; else they stay what they were.
void find_thermo(graph::Scope& scope, const Settings& settings, const Labels& labels);

}  // namespace strata::md
