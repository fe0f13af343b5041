#include "solvers/md/potentials/long_range.hpp"

#include <numbers>

namespace strata::md {

LongRange long_range_of_pair(double epsilon, double sigma, double cutoff) {
    const double s = sigma / cutoff, s3 = s * s * s, s9 = s3 * s3 * s3;
    const double volume = std::numbers::pi * epsilon * sigma * sigma * sigma;
    return {8.0 / 9 * volume * (s9 - 3 * s3), 16.0 / 3 * volume * (2 * s9 - 3 * s3)};
}

LongRange long_range(const LennardJones& pairs, std::span<const std::int64_t> atoms) {
    LongRange all;
    const auto n = static_cast<std::size_t>(pairs.species);
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b) {
            const std::size_t at = a * n + b;
            const LongRange one = long_range_of_pair(pairs.epsilon[at], pairs.sigma[at], pairs.cutoff[at]);
            const double times = static_cast<double>(atoms[a]) * static_cast<double>(atoms[b]);
            all.energy += times * one.energy;
            all.virial += times * one.virial;
        }
    return all;
}

}  // namespace strata::md
