// How donors' volumes compare with those of receptors: counts by size, and what shares of receptors have
// less.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace strata::overset {

/// Bins of a quarter of a power of two each, from 2^-16 to 2^16; the first and the last have what lies
/// beyond.
inline constexpr int kRatioBins = 128;

[[nodiscard]] inline int ratio_bin(double ratio) {
    const double bin = std::floor(4 * std::log2(ratio)) + kRatioBins / 2;
    return static_cast<int>(std::clamp(bin, 0.0, kRatioBins - 1.0));
}

/// The ratio that a share of the receptors stays below, to within a bin (19 %); 0 where there are none.
/// `counts`: of kRatioBins bins.
[[nodiscard]] inline double ratio_at(const std::vector<std::int64_t>& counts, double share) {
    std::int64_t all = 0;
    for (const std::int64_t n : counts) all += n;
    double left = share * static_cast<double>(all);
    for (std::size_t bin = 0; bin < counts.size(); ++bin) {
        const auto own = static_cast<double>(counts[bin]);
        if (own > 0 && left <= own)
            return std::exp2((static_cast<double>(bin) - 0.5 * kRatioBins + left / own) / 4);
        left -= own;
    }
    return 0;
}

}  // namespace strata::overset
