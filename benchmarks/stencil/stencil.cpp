// The heat equation in three dimensions over processes and threads: what scaling is studied on. Work and
// traffic are the same for each cell, and each step waits for the faces of all neighbours.
#include "benchmarks/stencil/stencil.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/median.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/stencil/heat.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/machine/machine.hpp"

namespace strata::bench::stencil {
namespace {

constexpr long kLeastEdge = 1, kMostEdge = 8192;
constexpr int kRepeats = 7;
constexpr double kCacheMultiple = 4, kCacheMultipleQuick = 2;
/// One update makes rounding errors of 3.5 eps at most (8 operations on values below 1), and no step makes
/// older ones larger: its weights are positive and their sum is 1. The constants and sines add a few.
constexpr double kLimit = 8;

/// All last-level caches of the machine, used by this layout or not: the cube must be the same for each.
std::uint64_t caches_of_the_machine() {
    const machine::Machine machine = machine::read_machine({"system", false, false});
    int last = 0;
    for (const auto& cache : machine.caches) last = std::max(last, cache.level);
    std::uint64_t sum = 0;
    for (const auto& cache : machine.caches)
        if (cache.level == last) sum += cache.size_bytes;
    return sum > 0 ? sum : last_level_cache();
}

int edge(Group& group, const Parsed& given, double cores) {
    if (given.has("--n") && given.has("--cells-per-core"))
        throw Error("the cube has one size")
            .given("--n and --cells-per-core")
            .allowed(
                "--n, the same cube for any layout, or --cells-per-core, a cube that grows with the cores");
    if (given.has("--n")) return static_cast<int>(given.integer("--n", kLeastEdge, kMostEdge));
    double n = 0;
    if (given.has("--cells-per-core")) {
        n = static_cast<double>(given.integer("--cells-per-core", kLeastEdge, kMostEdge)) * std::cbrt(cores);
    } else {
        const double multiple = given.has("--quick") ? kCacheMultipleQuick : kCacheMultiple;
        n = std::cbrt(multiple * static_cast<double>(caches_of_the_machine()) / kBytesACell);
    }
    return static_cast<int>(std::clamp(std::round(group.from_first(n)), 1.0, double{kMostEdge}));
}

/// A block without cells would have nothing to send.
void require_cells(int n, const Triple& grid) {
    const int most = *std::max_element(grid.begin(), grid.end());
    if (most <= n) return;
    throw Error("the cube has fewer cells along an edge than there are processes along it")
        .given(fmt::format("{} cells, a grid of {}x{}x{} processes", n, grid[kZ], grid[kY], grid[kX]))
        .allowed(fmt::format("{} cells or more", most))
        .remedy(fmt::format("--n {}", most));
}

struct Times {
    double step = 0, exchange = 0;  // s, of one step
};

Times one_repeat(Group& group, Field& field, long steps, Break fault) {
    group.barrier();
    const double start = now();
    const double exchange = fault == Break::skip ? 0 : field.advance(group, steps);
    const double step = group.max(now() - start) / static_cast<double>(steps);
    return {step, group.sum(exchange) / group.size() / static_cast<double>(steps)};
}

void declare(Options& options) {
    options
        .option(
            "--n", "N", "",
            "cells along an edge of the whole cube, for any layout: strong scaling; without it two arrays "
            "of the cube are four times the machine's last-level caches (--quick: twice)")
        .option("--cells-per-core", "N", "",
                "edge of the cube of cells that each core in use (processes x threads) has: the whole grows "
                "with the cores, weak scaling; 100 is a million cells a core")
        .option("--steps", "N", "", "time steps of a timed repeat; 20, --quick 10")
        .option("--repeats", "N", "", "timed repeats, of which the median counts; 7")
        .example("strata bench stencil --layout 2x4", "two processes of four threads share one cube")
        .example("strata bench stencil --layout 4x1 --n 256 --steps 50", "strong scaling: the cube stays")
        .example("strata bench stencil --layout 1x8 --cells-per-core 128", "weak scaling: it grows");
}

Result run(Group& group, const Parsed& given, Break fault) {
    const double cores = group.sum(thread_count());
    const int n = edge(group, given, cores);
    const long steps = given.has("--steps")   ? given.integer("--steps", 1, 1'000'000)
                       : given.has("--quick") ? 10
                                              : 20;
    const long repeats = given.has("--repeats") ? given.integer("--repeats", 1, 1000) : kRepeats;
    const Triple grid = best_grid(group.size());
    require_cells(n, grid);
    const Block block = block_of(n, grid, group.rank());
    require_memory(static_cast<std::uint64_t>(group.sum(static_cast<double>(Field::bytes(block)))),
                   "stencil");
    const long all_steps = (repeats + 1) * steps;  // one repeat warms up
    const Mode mode(n, all_steps);
    Field field(block, mode);

    one_repeat(group, field, steps, fault);
    std::vector<double> step, share;
    Progress progress("stencil", static_cast<std::size_t>(repeats));
    for (long repeat = 0; repeat < repeats; ++repeat) {
        const Times times = one_repeat(group, field, steps, fault);
        step.push_back(times.step);
        share.push_back(100 * times.exchange / times.step);
        progress.step();
    }
    if (fault == Break::perturb && group.rank() == 0) field.disturb(1e-6);

    Result result;
    const double error = group.max(field.error(all_steps));
    const double cells = static_cast<double>(n) * n * n, seconds = median(step);
    result.verification = {"largest error beside the exact solution of the scheme / (eps steps)",
                           error / (std::numeric_limits<double>::epsilon() * static_cast<double>(all_steps)),
                           kLimit,
                           "LeVeque 2007, sections 2.10 and 9.6; rounding bound of docs/benchmarks.md"};
    result.parameter("n", std::int64_t{n});
    result.parameter("steps", std::int64_t{steps});
    result.parameter("repeats", std::int64_t{repeats});
    result.parameter("grid", fmt::format("{}x{}x{}", grid[kZ], grid[kY], grid[kX]));
    result.parameter("cells a core", cells / cores);
    result.parameter("exchanged a step",
                     static_cast<std::int64_t>(group.sum(static_cast<double>(field.bytes_sent()))));
    result.parameter("huge page share", group.sum(static_cast<double>(field.huge_bytes())) /
                                            group.sum(static_cast<double>(Field::bytes(block))));
    result.figures = {
        {"cell updates", 1e-6 * cells / seconds, "Mcell/s", true, kBytesACell * cells, kFlopsACell * cells},
        {"time a step", 1e3 * seconds, "ms", false},
        {"exchange", median(share), "%", false},
    };
    result.notes.push_back(fmt::format(
        "The median of {} repeats of {} steps; the slowest process's time. Bytes are those that must move, a "
        "read and a write of each cell, without the line fills of stores.",
        repeats, steps));
    if (group.size() > 1)
        result.notes.push_back(
            "Exchange is packing, messages with the wait for the later one, and unpacking, the mean of all "
            "processes; nothing is computed meanwhile.");
    return result;
}

}  // namespace

const Benchmark stencil = {
    "stencil", "the heat equation in 3-D, processes x threads: strong and weak scaling", declare, run};

}  // namespace strata::bench::stencil
