// Kept values of a run, as copied arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "core/base/error.hpp"
#include "core/graph/simulation/simulation.hpp"

namespace strata::graph::python {

/// Calls go(T()) with the type of a label's values. Throws Error where Python has no such arrays.
template <class Go>
auto with_type(const LabelInfo& label, Go go) {
    switch (label.element) {
        case Element::f64:
            return go(double());
        case Element::i64:
            return go(std::int64_t());
        case Element::i32:
            return go(std::int32_t());
        case Element::u8:
            return go(std::uint8_t());
        default:
            throw Error("Python has no arrays of such values").given(label.name);
    }
}

/// The values of a label that this process's `local`-th patch owns, after the last step: [z, y, x] for
/// fields, [i] for lists. `border`: with the layers beyond the domain. Throws Error where the label is not
/// kept.
nanobind::object copied_values(const Simulation& run, LabelId label, int local, bool border);

/// A scalar's value. Throws Error where the label is no scalar.
double scalar_value(const Simulation& run, LabelId label);

}  // namespace strata::graph::python
