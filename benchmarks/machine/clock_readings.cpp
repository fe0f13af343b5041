#include "benchmarks/machine/clock_readings.hpp"

#include "benchmarks/common/median.hpp"

namespace strata::bench::machine_measures {

std::optional<double> median_between(std::span<const Reading> readings, double from, double to) {
    std::vector<double> within;
    for (const Reading& reading : readings)
        if (reading.at >= from && reading.at < to) within.push_back(reading.ghz);
    if (within.empty()) return std::nullopt;
    return bench::median(within);
}

std::vector<std::optional<double>> slowest_over_time(std::span<const std::vector<Reading>> threads,
                                                     double seconds, int parts) {
    std::vector<std::optional<double>> slowest(static_cast<std::size_t>(parts));
    for (int part = 0; part < parts; ++part)
        for (const auto& readings : threads) {
            const auto median =
                median_between(readings, seconds * part / parts, seconds * (part + 1) / parts);
            auto& kept = slowest[static_cast<std::size_t>(part)];
            if (median && (!kept || *median < *kept)) kept = median;
        }
    return slowest;
}

}  // namespace strata::bench::machine_measures
