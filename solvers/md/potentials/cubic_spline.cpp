#include "solvers/md/potentials/cubic_spline.hpp"

namespace strata::md {

std::vector<double> spline_bends(const std::vector<double>& x, const std::vector<double>& y,
                                 double first_slope, double last_slope) {
    // A tridiagonal system: h_{k-1} b_{k-1} + 2 (h_{k-1} + h_k) b_k + h_k b_{k+1} = 6 (D_k - D_{k-1}), where
    // h is the distance of knots and D the slope of the line between them; at the ends D is the given slope.
    const std::size_t n = x.size();
    std::vector<double> above(n), right(n);
    for (std::size_t k = 0; k < n; ++k) {
        const double before = k > 0 ? x[k] - x[k - 1] : 0, after = k + 1 < n ? x[k + 1] - x[k] : 0;
        const double low = k > 0 ? (y[k] - y[k - 1]) / before : first_slope;
        const double high = k + 1 < n ? (y[k + 1] - y[k]) / after : last_slope;
        const double left = k > 0 ? before * above[k - 1] : 0;
        const double diagonal = 2 * (before + after) - left;
        above[k] = after / diagonal;
        right[k] = (6 * (high - low) - (k > 0 ? before * right[k - 1] : 0)) / diagonal;
    }
    for (std::size_t k = n - 1; k-- > 0;) right[k] -= above[k] * right[k + 1];
    return right;
}

}  // namespace strata::md
