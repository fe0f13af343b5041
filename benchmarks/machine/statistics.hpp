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

/// How far repetitions of the same work lie apart, in parts per million, from order statistics alone.
struct Spread {
    double shortest = 0, median = 0;  // in the samples' unit
    double range = 0;                 // (longest - shortest) / shortest
    double interquartile = 0;         // (third quartile - first) / median
    double p99 = 0;                   // (99th percentile - median) / median
};
/// Of samples in ascending order. None with fewer than two, or where the shortest is 0.
[[nodiscard]] std::optional<Spread> spread_of(std::span<const double> ascending);

/// The smallest sample that at most the share `above` of all exceeds; samples in ascending order, at least
/// one.
[[nodiscard]] double exceeded_by(std::span<const double> ascending, double above);

/// Slope of y against x by least squares; none with fewer than three different x, where a straight line would
/// fit whatever was measured.
[[nodiscard]] std::optional<double> slope(std::span<const std::pair<double, double>> points);

}  // namespace strata::bench::machine_measures
