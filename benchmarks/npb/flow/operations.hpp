#pragma once

#include "benchmarks/npb/flow/field.hpp"

namespace strata::npb::flow {

/// The official count of operations of an iteration: a fit to what was counted for several sizes, in the
/// number of points, the mean of the three faces' and the mean of the three edges'.
struct Operations {
    double points, faces, edges, constant;
    [[nodiscard]] constexpr double of(const Index& n) const {
        const auto x = static_cast<double>(n[0]), y = static_cast<double>(n[1]),
                   z = static_cast<double>(n[2]);
        return points * x * y * z + faces * (x * y + x * z + y * z) / 3 + edges * (x + y + z) / 3 + constant;
    }
};

}  // namespace strata::npb::flow
