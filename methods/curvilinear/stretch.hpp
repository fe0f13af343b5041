// Points along a line, closer to each other where a grid needs it.
#pragma once

#include <vector>

namespace strata::flow {

/// The ratio r of a row of n cells, each r times as long as the one before, of which the first is `first`
/// long and all together `length`.
[[nodiscard]] double geometric_ratio(int n, double first, double length);
/// Their n + 1 ends, from 0 to `length`.
[[nodiscard]] std::vector<double> geometric(int n, double first, double length);

/// n + 1 points from 0 to `length` whose first and last cells are that long (M. Vinokur, On one-dimensional
/// stretching functions for finite-difference calculations, J. Comput. Phys. 50 (1983) 215, equations 28 to
/// 40: the function of both ends, its slopes set so that the cells come out).
[[nodiscard]] std::vector<double> two_sided(int n, double first, double last, double length);

}  // namespace strata::flow
