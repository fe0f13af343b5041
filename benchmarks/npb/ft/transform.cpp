#include "benchmarks/npb/ft/transform.hpp"

#include <cmath>
#include <numbers>

namespace strata::npb::ft {

Transform::Transform(std::int64_t n) : n_(n) {
    std::int64_t left = n, stride = 1;
    while (left > 1) {
        // Two passes of radix 4 rather than one of 8 and one of 2.
        const int radix = left == 16 ? 4 : left >= 8 ? 8 : static_cast<int>(left);
        const Pass pass{radix, left, stride, twiddles_.size()};
        for (std::int64_t p = 0; p < left / radix; ++p)
            for (int k = 1; k < radix; ++k) {
                const double angle =
                    -2 * std::numbers::pi * static_cast<double>(p * k) / static_cast<double>(left);
                twiddles_.push_back(std::cos(angle));
                twiddles_.push_back(std::sin(angle));
            }
        passes_.push_back(pass);
        left /= radix;
        stride *= radix;
    }
}

}  // namespace strata::npb::ft
