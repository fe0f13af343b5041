#pragma once

#include "benchmarks/npb/flow/cells.hpp"

namespace strata::npb::lu {

/// Over the faces across x, y and z: sums of pressures times how many squares a point is a corner of.
using FaceSums = std::array<double, 3>;
/// Adds those on a cell's plane.
void add_plane(const flow::Cell& cell, std::int64_t z, FaceSums& sums);
/// The integral from the sums of all planes.
[[nodiscard]] double integral_of(const FaceSums& sums, const flow::Scale& scale);

/// The surface integral of the pressure (RNR-94-007, section 3): by the trapezoidal rule over the faces of a
/// box of points, a quarter of the sum over both faces of each direction. Over several grids, which are
/// spaced alike, the sum.
[[nodiscard]] double surface_integral(const flow::Cells& cells);

}  // namespace strata::npb::lu
