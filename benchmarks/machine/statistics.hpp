// What the samples of a measurement come to: plain functions of numbers, apart from the clock.
#pragma once

#include <optional>
#include <span>
#include <utility>

namespace strata::bench::machine_measures {

/// What one core lost, from the times of its quanta: the shortest is the one that nobody disturbed (Sottile
/// and Minnich, IEEE Cluster 2004).
struct Loss {
    double shortest = 0;  // s
    double percent = 0;   // (mean - shortest) / shortest
    double longest = 0;   // s, the largest excess of a quantum over the shortest
};
/// None with fewer than two quanta, as one says nothing about disturbance.
[[nodiscard]] std::optional<Loss> loss_of(std::span<const float> quanta);

/// Slope of y against x by least squares; none with fewer than three different x, where a straight line would
/// fit whatever was measured.
[[nodiscard]] std::optional<double> slope(std::span<const std::pair<double, double>> points);

}  // namespace strata::bench::machine_measures
