// Kept values of a run, as copied arrays.
#pragma once

#include <nanobind/nanobind.h>

#include "core/graph/simulation/simulation.hpp"

namespace strata::graph::python {

/// The values of a label that this process's `local`-th patch owns, after the last step: [z, y, x] for
/// fields, [i] for lists. `border`: with the layers beyond the domain. Throws Error where the label is not
/// kept.
nanobind::object copied_values(const Simulation& run, LabelId label, int local, bool border);

/// A scalar's value. Throws Error where the label is no scalar.
double scalar_value(const Simulation& run, LabelId label);

}  // namespace strata::graph::python
