#include "benchmarks/npb/flow/division.hpp"

#include <algorithm>
#include <cmath>

namespace strata::npb::flow {

Division Division::even(std::span<const Tile> tiles, int workers) {
    Division division;
    for (int w = 0; w < workers; ++w) {
        for (std::size_t c = 0; c < tiles.size(); ++c) {
            const std::int64_t planes = tiles[c].last(2) - tiles[c].first(2);
            const Share own(planes, w, workers);
            if (own.begin < own.end) division.parts_.push_back({c, own.begin, own.end, planes});
        }
        division.close();
    }
    return division;
}

Division Division::by_cost(std::span<const Tile> tiles, std::span<const double> costs,
                           std::span<const int> owners, std::span<const int> counts) {
    Division division;
    for (std::size_t group = 0; group < counts.size(); ++group) {
        double all = 0;
        for (std::size_t c = 0; c < tiles.size(); ++c)
            if (owners[c] == static_cast<int>(group)) all += costs[c];
        // Worker w ends where the cells' costs, laid end to end, reach (w + 1) / count of all.
        for (int w = 0; w < counts[group]; ++w) {
            const double from = all * w / counts[group], to = all * (w + 1) / counts[group];
            double before = 0;
            for (std::size_t c = 0; c < tiles.size(); ++c) {
                if (owners[c] != static_cast<int>(group)) continue;
                const std::int64_t planes = tiles[c].last(2) - tiles[c].first(2);
                const auto cut = [&](double at) {
                    const double part = static_cast<double>(planes) * (at - before) / costs[c];
                    return std::clamp<std::int64_t>(std::llround(part), 0, planes);
                };
                const std::int64_t begin = w == 0 ? 0 : cut(from);
                const std::int64_t end = w + 1 == counts[group] ? planes : cut(to);
                if (begin < end) division.parts_.push_back({c, begin, end, planes});
                before += costs[c];
            }
            division.close();
        }
    }
    return division;
}

}  // namespace strata::npb::flow
