#include "core/graph/execute/ticks.hpp"

#include <algorithm>
#include <ctime>

namespace strata::graph {
namespace {

std::int64_t clock_ns() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

struct Moment {
    std::uint64_t ticks;
    std::int64_t ns;
};

/// Reads both clocks at one moment. Takes the tightest of several tries, since a try may be interrupted.
Moment moment() {
    Moment best{};
    std::uint64_t closest = ~std::uint64_t{0};
    for (int attempt = 0; attempt < 8; ++attempt) {
        const std::uint64_t before = ticks();
        const std::int64_t ns = clock_ns();
        const std::uint64_t after = ticks();
        if (after - before >= closest) continue;
        closest = after - before;
        best = {before + (after - before) / 2, ns};
    }
    return best;
}

double reading_cost() {
    std::uint64_t least = ~std::uint64_t{0};
    for (int attempt = 0; attempt < 64; ++attempt) {
        const std::uint64_t begin = ticks();
        for (int i = 0; i < 8; ++i) static_cast<void>(ticks());
        least = std::min(least, ticks() - begin);
    }
    return static_cast<double>(least) / 9;
}

}  // namespace

TickRate tick_rate() {
    static const Moment first = moment();
    static const double reading = reading_cost();
    constexpr std::int64_t least_ns = 5'000'000;
    Moment now = moment();
    while (now.ns - first.ns < least_ns) now = moment();
    return {1e-9 * static_cast<double>(now.ns - first.ns) / static_cast<double>(now.ticks - first.ticks),
            reading, now.ticks, 1e-9 * static_cast<double>(now.ns)};
}

}  // namespace strata::graph
