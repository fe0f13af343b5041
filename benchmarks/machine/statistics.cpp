#include "benchmarks/machine/statistics.hpp"

#include <algorithm>
#include <set>

namespace strata::bench::machine_measures {

std::optional<Loss> loss_of(std::span<const float> quanta) {
    if (quanta.size() < 2) return std::nullopt;
    const auto [least, most] = std::minmax_element(quanta.begin(), quanta.end());
    double sum = 0;
    for (const float quantum : quanta) sum += static_cast<double>(quantum);
    const double shortest = static_cast<double>(*least);
    if (!(shortest > 0)) return std::nullopt;  // no time at all: the clock is coarser than the quantum
    const double mean = sum / static_cast<double>(quanta.size());
    return Loss{shortest, 100 * (mean - shortest) / shortest, static_cast<double>(*most) - shortest};
}

double exceeded_by(std::span<const double> ascending, double above) {
    const auto n = ascending.size();
    // A share such as 0.01 of 1000 is 10 exactly, whatever binary fractions make of it.
    const auto allowed = static_cast<std::size_t>(above * static_cast<double>(n) + 1e-9);
    return ascending[n - 1 - std::min(allowed, n - 1)];
}

std::optional<Spread> spread_of(std::span<const double> ascending) {
    if (ascending.size() < 2 || !(ascending.front() > 0)) return std::nullopt;
    constexpr double kMillion = 1e6;
    Spread spread;
    spread.shortest = ascending.front();
    spread.median = exceeded_by(ascending, 0.5);
    spread.range = kMillion * (ascending.back() - spread.shortest) / spread.shortest;
    spread.interquartile =
        kMillion * (exceeded_by(ascending, 0.25) - exceeded_by(ascending, 0.75)) / spread.median;
    spread.p99 = kMillion * (exceeded_by(ascending, 0.01) - spread.median) / spread.median;
    return spread;
}

std::optional<double> slope(std::span<const std::pair<double, double>> points) {
    std::set<double> different;
    double mean_x = 0, mean_y = 0;
    for (const auto& [x, y] : points) {
        different.insert(x);
        mean_x += x / static_cast<double>(points.size());
        mean_y += y / static_cast<double>(points.size());
    }
    if (different.size() < 3) return std::nullopt;
    double above = 0, below = 0;
    for (const auto& [x, y] : points) {
        above += (x - mean_x) * (y - mean_y);
        below += (x - mean_x) * (x - mean_x);
    }
    return above / below;
}

}  // namespace strata::bench::machine_measures
