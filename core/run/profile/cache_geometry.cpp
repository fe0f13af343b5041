#include "core/run/profile/cache_geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

namespace strata::graph {

namespace {

std::string size_text(std::uint64_t bytes) {
    if (bytes % (1U << 20U) == 0) return fmt::format("{} MiB", bytes >> 20U);
    if (bytes % 1024 == 0) return fmt::format("{} KiB", bytes >> 10U);
    return fmt::format("{} B", bytes);
}

/// The best cache of this core, by `better`, of the kinds that `is` allows.
template <class Is, class Better>
std::optional<machine::Cache> best(const machine::Machine& machine, int core, Is is, Better better) {
    std::optional<machine::Cache> found;
    for (const machine::Cache& cache : machine.caches) {
        if (std::find(cache.cores.begin(), cache.cores.end(), core) == cache.cores.end()) continue;
        if (is(cache) && (!found || better(cache, *found))) found = cache;
    }
    return found;
}

}  // namespace

std::string text_of(const CacheGeometry& cache) {
    return fmt::format("{}, {}-way, lines of {} B", size_text(cache.size), cache.ways, cache.line);
}

CacheGeometry nearest_allowed(const CacheGeometry& cache) {
    CacheGeometry nearest;
    nearest.line = static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::clamp(cache.line, 16, 1024))));
    const double lines = std::max(1.0, static_cast<double>(cache.size) / nearest.line);
    const double wanted = cache.ways < 0    ? std::min(lines, 64.0)
                          : cache.ways == 0 ? std::min(lines, 8.0)
                                            : cache.ways;
    const auto floor = std::bit_floor(static_cast<std::uint64_t>(std::max(1.0, lines / wanted)));
    double least = HUGE_VAL;
    for (const std::uint64_t sets : {floor, 2 * floor, std::max<std::uint64_t>(1, floor / 2)}) {
        const double ways = std::max(1.0, std::round(lines / static_cast<double>(sets)));
        const double off = std::abs(ways * static_cast<double>(sets) - lines) / lines;
        // A difference of a thousandth of the size weighs as much as a difference in ways by a factor of
        // 2^0.1.
        const double distance = off + 0.01 * std::abs(std::log2(ways / wanted));
        if (distance >= least) continue;
        least = distance;
        nearest.ways = static_cast<int>(ways);
        nearest.size = sets * static_cast<std::uint64_t>(ways) * static_cast<std::uint64_t>(nearest.line);
    }
    return nearest;
}

std::vector<std::string> SimulatedCaches::options() const {
    const auto option = [](const char* name, const CacheGeometry& cache) {
        return fmt::format("--{}={},{},{}", name, cache.size, cache.ways, cache.line);
    };
    return {option("I1", instructions), option("D1", data), option("LL", last)};
}

SimulatedCaches simulated_caches(const machine::Machine& machine, int core) {
    using machine::Cache;
    SimulatedCaches caches;
    const auto settle = [&](const char* name, const std::optional<Cache>& found, std::uint64_t usual) {
        const CacheGeometry has = found ? CacheGeometry{found->size_bytes, found->ways, found->line_bytes}
                                        : CacheGeometry{usual, 8, 64};
        const CacheGeometry taken = nearest_allowed(has);
        if (!found)
            caches.changed.push_back(
                fmt::format("{}: this machine does not say what it has; {} taken", name, text_of(taken)));
        else if (taken != has && has.ways <= 0)
            caches.changed.push_back(fmt::format("{}: this machine's {} with {} taken for its ways", name,
                                                 size_text(has.size), taken.ways));
        else if (taken != has)
            caches.changed.push_back(fmt::format("{}: this machine has {}; callgrind's nearest is {}", name,
                                                 text_of(has), text_of(taken)));
        return taken;
    };
    const auto lower = [](const Cache& a, const Cache& b) { return a.level < b.level; };
    const auto higher = [](const Cache& a, const Cache& b) { return a.level > b.level; };
    const auto first = [&](const char* type) {
        return best(
            machine, core,
            [&](const Cache& c) { return c.level == 1 && (c.type == type || c.type == "unified"); }, lower);
    };
    caches.instructions = settle("I1", first("instruction"), 32 << 10U);
    caches.data = settle("D1", first("data"), 32 << 10U);
    caches.last = settle(
        "LL",
        best(
            machine, core, [](const Cache& c) { return c.level > 1 && c.type != "instruction"; }, higher),
        2 << 20U);
    return caches;
}

}  // namespace strata::graph
