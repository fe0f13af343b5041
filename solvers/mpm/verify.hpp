// What makes a result of this solver count.
#pragma once

#include "core/run/driver/driver.hpp"
#include "solvers/mpm/labels.hpp"
#include "solvers/mpm/settings.hpp"

namespace strata::mpm {

/// Root-mean-square error of displacements (by mass) at the end, as a share of the exact solution's
/// amplitude of displacement.
[[nodiscard]] double error(const graph::Finished& run, const Labels& labels, const Settings& settings);

/// Energy that was won (lost: negative) as a share of what there was at the start and came from loads:
/// (kinetic + strain + plastic + work of friction between bodies - work of loads) / first kinetic energy and
/// work - 1.
[[nodiscard]] double energy_change(const graph::Finished& run, const Labels& labels,
                                   const Settings& settings);

/// One of them against its limit, and further figures.
[[nodiscard]] graph::Findings verify(const graph::Finished& run, const Labels& labels,
                                     const Settings& settings);

}  // namespace strata::mpm
