// Readings of a core's clock over time, and what they come to: plain functions of numbers.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace strata::bench::machine_measures {

/// The clock of one core, `at` seconds after the load began.
struct Reading {
    double at = 0, ghz = 0;
};

/// The median of the readings of one thread with from <= at < to; none without any.
[[nodiscard]] std::optional<double> median_between(std::span<const Reading> readings, double from, double to);

/// The slowest thread over time: for each of `parts` equal parts of 0 .. seconds the least of the threads'
/// medians; none where no thread read its clock.
[[nodiscard]] std::vector<std::optional<double>> slowest_over_time(
    std::span<const std::vector<Reading>> threads, double seconds, int parts);

/// A clock that no core has: a chain that was not run, or was not alone on its core, says so.
inline constexpr double kLeastGhz = 0.3, kMostGhz = 8;
[[nodiscard]] constexpr bool believable(double ghz) { return ghz >= kLeastGhz && ghz <= kMostGhz; }

}  // namespace strata::bench::machine_measures
