// What makes a result count: energy is conserved.
#pragma once

#include "core/run/driver/driver.hpp"
#include "solvers/md/labels.hpp"
#include "solvers/md/settings.hpp"

namespace strata::md {

[[nodiscard]] graph::Findings verify(const graph::Finished& run, const Labels& labels, const Settings& s);

}  // namespace strata::md
