// The cubic spline with continuous second derivatives through given points, and given slopes at its ends:
// C. de Boor, A Practical Guide to Splines (1978), chapter IV.
#pragma once

#include <cstddef>
#include <vector>

namespace strata::md {

/// The second derivatives at the knots x, which rise.
[[nodiscard]] std::vector<double> spline_bends(const std::vector<double>& x, const std::vector<double>& y,
                                               double first_slope, double last_slope);

/// Between two knots that are h apart: at the share t of the way, from values and second derivatives.
[[nodiscard]] inline double spline_value(double t, double h, double y0, double y1, double bend0,
                                         double bend1) {
    const double s = 1 - t;
    return s * y0 + t * y1 + ((s * s * s - s) * bend0 + (t * t * t - t) * bend1) * (h * h) / 6;
}

}  // namespace strata::md
