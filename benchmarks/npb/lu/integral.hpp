#pragma once

#include "benchmarks/npb/flow/cells.hpp"

namespace strata::npb::lu {

/// The surface integral of the pressure (RNR-94-007, section 3): by the trapezoidal rule over the faces of a
/// box of points, a quarter of the sum over both faces of each direction. Over several grids, which are
/// spaced alike, the sum.
[[nodiscard]] double surface_integral(const flow::Cells& cells);

}  // namespace strata::npb::lu
