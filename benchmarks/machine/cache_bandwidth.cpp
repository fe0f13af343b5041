// Load bandwidth against working set: the slopes of the roofline above memory's.
#include <fmt/format.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/median.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/common/random.hpp"
#include "benchmarks/machine/machine.hpp"
#include "benchmarks/machine/units.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/machine/machine.hpp"

namespace strata::bench::machine_measures {
namespace {

constexpr std::size_t kSmallest = std::size_t{8} << 10;
constexpr std::size_t kStep = 512;  // load_all takes whole blocks of 64 words
constexpr int kWindows = 5;

std::vector<std::size_t> working_sets(std::size_t largest, bool quick) {
    std::vector<std::size_t> sizes;
    const std::size_t parts = quick ? 2 : 4;
    for (std::size_t octave = kSmallest; octave <= largest; octave *= 2)
        for (std::size_t part = 0; part < parts; ++part) {
            const std::size_t size = (octave + octave * part / parts) / kStep * kStep;
            if (size <= largest) sizes.push_back(size);
        }
    return sizes;
}

/// One thread's own memory.
struct Own {
    Array<std::uint64_t> words;
    explicit Own(std::size_t bytes) : words(bytes / sizeof(std::uint64_t)) {
        for (std::size_t i = 0; i < words.size(); ++i) words[i] = random_bits(i);
    }
};

/// Bytes a second that this thread loads from the first `bytes` of its memory; counts results that are not
/// what was stored.
double thread_rate(const Own& own, std::size_t bytes, std::size_t passes, Break fault, std::uint64_t expected,
                   std::size_t& wrong) {
    const std::span<const std::uint64_t> words(own.words.data(), bytes / sizeof(std::uint64_t));
    const double start = now();
    for (std::size_t pass = 0; pass < passes; ++pass) {
        std::uint64_t found = fault == Break::skip ? 0 : load_all(words);
        asm volatile("" : "+r"(found) : : "memory");  // each pass must read again
        if (fault == Break::perturb) found ^= 1;
        wrong += found != expected;
    }
    return static_cast<double>(passes * bytes) / (now() - start);
}

struct Point {
    double rate = 0;
    std::size_t wrong = 0;
};

/// All threads together, each on memory of its own; the best of several windows, as a cache that was
/// disturbed is not the cache that is asked for.
Point measure(const std::vector<Own>& owns, std::size_t bytes, double seconds, Break fault) {
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) expected ^= random_bits(i);
    Point point;
    std::size_t guess = 0;
    // A guess from above: no core loads more than two 64-byte lines a cycle at 6 GHz.
    const auto most = static_cast<std::size_t>(seconds * 768e9 / static_cast<double>(bytes)) + 1;
    double first = thread_rate(owns[0], bytes, std::min<std::size_t>(most, 3), fault, expected, guess);
    point.wrong += guess;
    const auto passes = std::max<std::size_t>(
        1, static_cast<std::size_t>(seconds * std::min(first, 768e9) / static_cast<double>(bytes)));
    for (int window = 0; window < kWindows; ++window) {
        double sum = 0;
        std::size_t wrong = 0;
        const int threads = static_cast<int>(owns.size());
        (void)threads;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) reduction(+ : sum, wrong)
        {
            const auto thread = static_cast<std::size_t>(omp_get_thread_num());
#pragma omp barrier
#else
        {
            const std::size_t thread = 0;
#endif
            sum += thread_rate(owns[thread], bytes, passes, fault, expected, wrong);
        }
        point.wrong += wrong;
        point.rate = std::max(point.rate, sum);
    }
    return point;
}

/// What each cache level gives, at half of a thread's share of it.
void level_figures(Result& result, const Curve& curve, int threads) {
    const machine::Machine machine = machine::read_machine({"system", false, false});
    std::size_t below = 0;
    for (int level = 1; level <= 4; ++level) {
        std::size_t share = 0;
        for (const machine::Cache& cache : machine.caches) {
            if (cache.level != level || cache.type == "instruction") continue;
            const auto sharing = std::min(cache.cores.size(), static_cast<std::size_t>(threads));
            share = cache.size_bytes / std::max<std::size_t>(1, sharing);
            break;
        }
        if (share == 0) continue;
        std::vector<double> inside;
        for (const auto& [x, y] : curve.points)
            if (x > 1.2 * static_cast<double>(below) && x <= 0.6 * static_cast<double>(share))
                inside.push_back(y);
        below = share;
        if (inside.empty()) continue;
        result.figures.push_back({fmt::format("L{} load", level), median(inside), "GB/s", true, {}, {}});
    }
}

void declare_cache_bandwidth(Options& options) {
    options
        .option("--largest", "SIZE", "",
                "largest working set of a thread; without it twice the last-level cache")
        .example("strata bench cache-bandwidth --layout 1x1", "loads of one core");
}

Result run_cache_bandwidth(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("cache bandwidth is measured by the threads of one process")
            .given(std::to_string(group.size()))
            .allowed("1");
    const bool quick = given.has("--quick");
    const int threads = thread_count();
    const std::size_t largest = std::max<std::size_t>(
        kSmallest,
        (given.has("--largest") ? given.size("--largest") : 2 * last_level_cache()) / kStep * kStep);
    require_memory(largest * static_cast<std::size_t>(threads), "cache bandwidth");
    std::vector<Own> owns;
    owns.reserve(static_cast<std::size_t>(threads));
#ifdef _OPENMP
#pragma omp parallel for ordered schedule(static, 1) num_threads(threads)
#endif
    for (int thread = 0; thread < threads; ++thread) {
#ifdef _OPENMP
#pragma omp ordered
#endif
        owns.emplace_back(largest);  // filled by the thread that will read it
    }
    Result result;
    Curve curve{threads == 1 ? "load bandwidth, one core" : fmt::format("load bandwidth, {} cores", threads),
                {"working set", "B"},
                {"bandwidth", "GB/s"},
                {}};
    const auto sizes = working_sets(largest, quick);
    std::size_t wrong = 0;
    Progress progress("cache bandwidth", sizes.size());
    for (const std::size_t size : sizes) {
        const Point point = measure(owns, size, quick ? 0.003 : 0.02, fault);
        wrong += point.wrong;
        curve.points.emplace_back(static_cast<double>(size), point.rate * 1e-9);
        progress.step();
    }
    result.verification = {"passes that did not find what was stored", static_cast<double>(wrong), 0,
                           "Strata: docs/benchmarks.md, cache-bandwidth"};
    result.parameter("largest", static_cast<std::int64_t>(largest));
    level_figures(result, curve, threads);
    result.curves.push_back(std::move(curve));
    return result;
}

}  // namespace

const Benchmark cache_bandwidth = {"cache-bandwidth", "load bandwidth against working set",
                                   declare_cache_bandwidth, run_cache_bandwidth};

}  // namespace strata::bench::machine_measures
