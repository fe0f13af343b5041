#include "benchmarks/npb/ep/ep.hpp"

#include <fmt/format.h>

#include <cmath>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/npb/common/random.hpp"
#include "benchmarks/npb/common/vector.hpp"
#include "benchmarks/npb/ep/logarithm.hpp"

namespace strata::npb::ep {
namespace {

/// log2 of the number of pairs, and the official sums (NPB 3.4, EP; relative error at most 1e-8).
struct Problem {
    int m;
    double x, y;
};
constexpr Problem kProblems[] = {
    {24, -3.247834652034740e3, -6.958407078382297e3},  // S
    {25, -2.863319731645753e3, -6.320053679109499e3},  // W
    {28, -4.295875165629892e3, -1.580732573678431e4},  // A
    {30, 4.033815542441498e4, -2.660669192809235e4},   // B
    {32, 4.764367927995374e4, -8.084072988043731e4},   // C
    {36, 1.982481200946593e5, -1.020596636361769e5},   // D
    {40, -5.319717441530e5, -3.688834557731e5},        // E
    {44, -1.986768071074039e1, -2.164441190520301e1},  // F
};
constexpr double kLimit = 1e-8;
constexpr std::uint64_t kSeedOfEp = 271828183;
/// Pairs of which one worker begins anew in the sequence; the sums are added block by block, so that the last
/// bits do not depend on how many workers there are.
constexpr std::uint64_t kBlock = 1 << 16;

/// Sums of eight subsequences at once.
struct Lanes {
    Vec x{}, y{};
    Bits counts[10] = {};
};

/// Eight pairs: (x, y) uniform in (-1, 1)^2; those in the unit circle, t = x^2 + y^2 <= 1, give
/// x sqrt(-2 ln t / t) and y sqrt(-2 ln t / t). For the others ln 1 = 0 stands in, which adds nothing.
inline void add_pairs(Bits first, Bits second, Lanes& lanes) {
    const auto uniform = [](Bits bits) {
        Mask number;
        std::memcpy(&number, &bits, sizeof number);
        return __builtin_convertvector(number, Vec) * (2 * Random::kScale) - 1.0;
    };
    const Vec x = uniform(first), y = uniform(second);
    const Vec t = x * x + y * y;
    const Mask inside = t <= 1.0;
    const Vec safe = inside ? t : broadcast(1.0);
    const Vec factor = sqrt(-2.0 * log(safe) / safe);
    const Vec gx = x * factor, gy = y * factor;
    lanes.x += gx;
    lanes.y += gy;
    const Vec ax = gx < 0.0 ? -gx : gx, ay = gy < 0.0 ? -gy : gy;
    const Vec larger = ax < ay ? ay : ax;
    const auto count = [&](int l, Mask mask) {
        Bits ones;
        std::memcpy(&ones, &mask, sizeof ones);
        lanes.counts[l] -= ones;  // true is -1
    };
    count(0, inside);
    for (int l = 1; l <= 3; ++l) count(l, larger >= static_cast<double>(l));
    if (any(larger >= 4.0)) [[unlikely]]
        for (int l = 4; l <= 9; ++l) count(l, larger >= static_cast<double>(l));
}

}  // namespace

void tally_pairs(std::uint64_t first, std::uint64_t count, Tally& tally) {
    constexpr int kStreams = 2;  // sixteen pairs at a time: one multiplication need not wait for the last
    constexpr std::uint64_t kStride = Random::power(2 * kLanes * kStreams);
    Random start = Random(kSeedOfEp).after(2 * first);
    Bits x[kStreams], y[kStreams];
    for (int s = 0; s < kStreams; ++s)
        for (int l = 0; l < kLanes; ++l) {
            (void)start.next();
            x[s][l] = start.state();
            (void)start.next();
            y[s][l] = start.state();
        }
    Lanes lanes;
    for (std::uint64_t i = 0; i < count; i += kLanes * kStreams)
        for (int s = 0; s < kStreams; ++s) {
            add_pairs(x[s], y[s], lanes);
            x[s] = x[s] * kStride & Random::kMask;
            y[s] = y[s] * kStride & Random::kMask;
        }
    tally.x += sum(lanes.x);
    tally.y += sum(lanes.y);
    for (int l = 0; l < 10; ++l) {
        // So far the counts are of "at least l"; the next one takes away what belongs further out.
        for (int i = 0; i < kLanes; ++i) tally.counts[l] += lanes.counts[l][i];
        if (l > 0)
            for (int i = 0; i < kLanes; ++i) tally.counts[l - 1] -= lanes.counts[l][i];
    }
}

namespace {

Plan plan(Class size, int processes, int workers) {
    const int m = kProblems[index(size)].m;
    return {fmt::format("{}", std::uint64_t{2} << m),
            0,
            fmt::format("blocks of {} pairs over {} worker{}", kBlock, processes * workers,
                        processes * workers == 1 ? "" : "s"),
            {{"sums", static_cast<std::uint64_t>(workers) * sizeof(Tally)}}};
}

Outcome run(Class size, Group& group, Break fault) {
    const Problem& problem = kProblems[index(size)];
    const auto blocks = static_cast<std::int64_t>((std::uint64_t{1} << problem.m) / kBlock);
    group.meet();
    const double start = bench::now();
    const auto sums = group.sum_each<13>([&](int worker, int workers) {
        const Share mine(blocks, group.rank() * workers + worker, group.size() * workers);
        bench::Progress progress("blocks of EP", static_cast<std::size_t>(mine.end - mine.begin));
        Tally tally;
        for (std::int64_t block = mine.begin; block < mine.end; ++block) {
            const bool last = fault != Break::none && block == blocks - 1;
            // A broken kernel leaves out the last block, or takes one pair too few.
            if (!(last && fault == Break::skip))
                tally_pairs(static_cast<std::uint64_t>(block) * kBlock, last ? kBlock - 16 : kBlock, tally);
            if (worker == 0 && group.first()) progress.step();
        }
        std::array<double, 13> part{tally.x, tally.y};
        for (std::size_t l = 0; l < 10; ++l) part[2 + l] = static_cast<double>(tally.counts[l]);
        return part;
    });
    Outcome outcome;
    outcome.seconds = group.max(bench::now() - start);
    outcome.operations = std::ldexp(2.0, problem.m);
    outcome.operation_type = "Random numbers generated";
    outcome.checks = {relative("relative error of the sum of x", sums[0], problem.x, kLimit),
                      relative("relative error of the sum of y", sums[1], problem.y, kLimit)};
    double pairs = 0;
    for (std::size_t l = 0; l < 10; ++l) pairs += sums[2 + l];
    outcome.lines.push_back(fmt::format("No. Gaussian Pairs = {:15.0f}", pairs));
    outcome.lines.push_back(fmt::format("Sums = {:24.15e} {:24.15e}", sums[0], sums[1]));
    for (std::size_t l = 0; l < 10; ++l)
        outcome.lines.push_back(fmt::format("Counts {:2} {:15.0f}", l, sums[2 + l]));
    return outcome;
}

}  // namespace

const Benchmark benchmark = {"ep", "Gaussian deviates from uniform pseudorandom numbers", plan, run};

}  // namespace strata::npb::ep
