// Extrapolation to a face from two cells on its either side: van Leer, B. (1979), J. Comput. Phys. 32; the
// kappa scheme with limiters as in Anderson, W. K., Thomas, J. L., van Leer, B. (1986), AIAA J. 24(9).
#pragma once

#include "solvers/flow/scheme/lanes.hpp"
#include "solvers/flow/scheme/options.hpp"

namespace strata::flow {

/// What is added to a cell's value to reach its face ahead; `behind` and `ahead` are the differences to the
/// values of the cells on that side. Third order on equal cells where kappa = 1/3 and nothing is limited.
template <Limiter limiter, class V>
V to_face(const V& behind, const V& ahead, double kappa) {
    if constexpr (limiter == Limiter::none) {
        return (0.25 * (1 - kappa)) * behind + (0.25 * (1 + kappa)) * ahead;
    } else if constexpr (limiter == Limiter::van_albada) {
        // Where both vanish s is 1; the constant is far below squares of differences that matter.
        constexpr double tiny = 1e-24;
        const V s =
            max((2.0 * behind * ahead + tiny) / (behind * behind + ahead * ahead + tiny), 0.0 * behind);
        return 0.25 * s * ((1 - kappa * s) * behind + (1 + kappa * s) * ahead);
    } else if constexpr (limiter == Limiter::minmod) {
        const double b = (3 - kappa) / (1 - kappa);
        const V zero = 0.0 * behind;
        const auto least = [&zero](const V& x, const V& y) {
            return select(x * y > zero, select(abs(x) < abs(y), x, y), zero);
        };
        return (0.25 * (1 - kappa)) * least(behind, b * ahead) +
               (0.25 * (1 + kappa)) * least(ahead, b * behind);
    } else {
        const V zero = 0.0 * behind, product = behind * ahead;
        return select(product > zero, product / select(product > zero, behind + ahead, zero + 1.0), zero);
    }
}

}  // namespace strata::flow
