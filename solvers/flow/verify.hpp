// What makes a result of this solver count.
#pragma once

#include "core/run/driver/driver.hpp"
#include "solvers/flow/tasks.hpp"

namespace strata::flow {

/// The figures that the case gives limits for, against these limits; and further ones.
[[nodiscard]] graph::Findings verify(const graph::Finished& run, const Flow& flow, const Settings& settings);

}  // namespace strata::flow
