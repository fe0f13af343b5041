// The median of what was measured in several windows or repeats.
#pragma once

#include <algorithm>
#include <vector>

namespace strata::bench {

/// The middle one, or the mean of the two middle ones. Of at least one value.
[[nodiscard]] inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

}  // namespace strata::bench
