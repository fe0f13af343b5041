// Load latency against working set: the staircase whose steps are the caches, with small and with huge pages.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/machine/chase.hpp"
#include "benchmarks/machine/machine.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/machine/machine.hpp"

namespace strata::bench::machine_measures {
namespace {

constexpr std::size_t kSmallest = std::size_t{16} << 10;
constexpr std::size_t kLine = 64;
constexpr int kWindows = 5;
constexpr double kGranted = 0.95;  // from here on memory counts as lying in huge pages

/// 16 KiB to `largest`: four sizes an octave while they are small and every cache edge matters, then fewer,
/// as making and proving a chain costs time in proportion to its size.
std::vector<std::size_t> working_sets(std::size_t largest, bool quick) {
    std::vector<std::size_t> sizes;
    for (std::size_t octave = kSmallest; octave < largest; octave *= 2) {
        const std::size_t bulk = std::size_t{quick ? 32U : 256U} << 20;
        const std::size_t parts = octave < bulk ? 4 : octave < 4 * bulk ? 2 : 1;
        for (std::size_t part = 0; part < parts; ++part) {
            const std::size_t size = octave + octave * part / parts;
            if (size < largest) sizes.push_back(size);
        }
    }
    sizes.push_back(largest);
    return sizes;
}

struct Walk {
    double ns = 0;
    bool verified = false;
};

/// Median of several windows of consecutive steps. The proof before it has brought the working set into the
/// caches as far as it fits.
Walk walk(std::span<std::byte> memory, std::size_t bytes, double seconds, Break fault) {
    const Order order(bytes / kLine, bytes);
    link_lines(memory, kLine, order);
    if (fault == Break::perturb) {  // one chain becomes two
        auto** a = reinterpret_cast<void**>(memory.data());
        auto** b = reinterpret_cast<void**>(memory.data() + (bytes / kLine / 2) * kLine);
        std::swap(*a, *b);
    }
    bool verified = visits_every_line_once(memory, kLine, order);
    const auto line = [&](std::size_t position) -> const void* {
        return memory.data() + order(position % order.size()) * kLine;
    };
    const void* at = line(0);
    // As many steps as fill the time; a first guess from a short walk that also warms the translation caches.
    std::size_t walked = std::min<std::size_t>(order.size(), 2000);
    const double began = now();
    at = chase(at, walked);
    const double step = std::max(0.2e-9, (now() - began) / static_cast<double>(walked));
    const auto steps = static_cast<std::size_t>(seconds / kWindows / step) + 1;
    std::array<double, kWindows> times{};
    for (double& time : times) {
        const double start = now();
        if (fault != Break::skip) at = chase(at, steps);
        time = (now() - start) / static_cast<double>(steps);
        walked += steps;
        verified = verified && at == line(walked);
    }
    std::nth_element(times.begin(), times.begin() + kWindows / 2, times.end());
    return {times[kWindows / 2] * 1e9, verified};
}

struct Kind {
    Pages pages;
    const char* curve;
    const char* figure;
};
constexpr std::array kKinds = {
    Kind{Pages::small, "latency, 4 KiB pages", "memory latency, 4 KiB pages"},
    Kind{Pages::huge, "latency, huge pages", "memory latency, huge pages"},
};

std::size_t largest_set(const Parsed& given) {
    const std::uint64_t cache = last_level_cache();
    if (given.has("--largest")) {
        const std::uint64_t bytes = given.size("--largest") / kLine * kLine;
        if (bytes < kSmallest)
            throw Error("the largest working set is too small")
                .at("--largest")
                .given(print_size(bytes))
                .allowed("16 KiB or more");
        require_memory(bytes, "the working set");
        return bytes;
    }
    const std::uint64_t wanted = std::max<std::uint64_t>(std::uint64_t{1} << 30, 4 * cache);
    std::uint64_t bytes = wanted;
    while (bytes > available_memory() / 2 && bytes > 2 * kSmallest) bytes /= 2;
    return bytes;
}

/// What each cache of this machine's first core takes, at the measured size nearest to half of it: there the
/// working set is surely inside, and surely outside of the cache below.
void level_figures(Result& result, const Curve& curve) {
    const machine::Machine machine = machine::read_machine({"system", false, false});
    for (int level = 1; level <= 4; ++level) {
        for (const machine::Cache& cache : machine.caches) {
            if (cache.level != level || cache.type == "instruction") continue;
            const double half = static_cast<double>(cache.size_bytes) / 2;
            if (half < curve.points.front().first || half > curve.points.back().first) break;
            const auto nearest =
                std::min_element(curve.points.begin(), curve.points.end(), [&](const auto& a, const auto& b) {
                    return std::abs(std::log(a.first / half)) < std::abs(std::log(b.first / half));
                });
            result.figures.push_back(
                {fmt::format("load latency, L{}", level), nearest->second, "ns", false, {}, {}});
            break;
        }
    }
}

void declare_latency(Options& options) {
    options
        .option("--largest", "SIZE", "",
                "largest working set; without it 1 GiB or four times the last-level cache, whichever is more")
        .option("--pages", "KIND", "both", "both, small or huge")
        .example("strata bench latency --quick", "the staircase of this machine's caches")
        .example("strata bench latency --largest 64MiB --pages huge",
                 "caches alone, without the cost of small pages");
}

Result run_latency(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("latency is measured by one process").given(std::to_string(group.size())).allowed("1");
    const std::size_t largest = largest_set(given);
    const bool quick = given.has("--quick");
    const std::string pages = given.choice("--pages", {"both", "small", "huge"});
    const std::vector<std::size_t> sizes = working_sets(largest, quick);
    Result result;
    result.parameter("largest", static_cast<std::int64_t>(largest));
    result.parameter("line", static_cast<std::int64_t>(kLine));
    if (!given.has("--largest") && largest < 4 * last_level_cache())
        result.notes.push_back(
            fmt::format("memory holds no more than {}: less than four times the last-level cache of {}",
                        print_size(largest), print_size(last_level_cache())));
    std::size_t proven = 0, tried = 0;
    Progress progress("latency", 2 * sizes.size());
    for (const Kind& kind : kKinds) {
        if ((pages == "small" && kind.pages == Pages::huge) ||
            (pages == "huge" && kind.pages == Pages::small))
            continue;
        const Array<std::byte> memory(largest, kind.pages);
        std::fill_n(reinterpret_cast<unsigned char*>(memory.data()), largest, static_cast<unsigned char>(1));
        const double share = static_cast<double>(memory.memory().huge_bytes()) / static_cast<double>(largest);
        if (kind.pages == Pages::huge && share < kGranted) {
            result.notes.push_back(fmt::format(
                "huge pages were asked for and {:.0f} % were granted: no curve for them", 100 * share));
            continue;
        }
        Curve curve{kind.curve, {"working set", "B"}, {"load latency", "ns"}, {}};
        for (const std::size_t size : sizes) {
            const Walk done = walk(memory.span(), size, quick ? 0.015 : 0.1, fault);
            ++tried;
            proven += done.verified;
            curve.points.emplace_back(static_cast<double>(size), done.ns);
            progress.step();
        }
        result.figures.push_back({kind.figure, curve.points.back().second, "ns", false, {}, {}});
        result.curves.push_back(std::move(curve));
    }
    // With huge pages, where there are any, as there a load pays for the cache and not for its translation.
    if (!result.curves.empty()) level_figures(result, result.curves.back());
    result.verification = {
        "walks that did not visit every line exactly once, or ended elsewhere than the order says",
        static_cast<double>(tried - proven), 0, "Strata: docs/benchmarks.md, latency"};
    if (tried == 0) result.verification.value = NAN;
    return result;
}

}  // namespace

const Benchmark latency = {"latency", "load latency against working set, with small and huge pages",
                           declare_latency, run_latency};

}  // namespace strata::bench::machine_measures
