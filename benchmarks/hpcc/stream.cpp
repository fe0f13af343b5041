// STREAM (McCalpin, Memory Bandwidth and Machine Balance in Current High Performance Computers, 1995), on one
// process or on all at once, as HPCC's SingleSTREAM and StarSTREAM.
#include <fmt/format.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/together.hpp"
#include "benchmarks/hpcc/hpcc.hpp"
#include "benchmarks/hpcc/hpcc_size.hpp"
#include "benchmarks/hpcc/stream_kernels.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/machine/machine.hpp"

namespace strata::bench::hpcc {
namespace {

constexpr double kQ = 3.0;
constexpr std::array kNames = {"copy", "scale", "add", "triad"};
constexpr std::array kArrays = {2.0, 2.0, 3.0,
                                3.0};  // arrays that STREAM counts as moved; no line fills for stores
constexpr std::array kFlops = {0.0, 1.0, 1.0, 2.0};  // an element
constexpr int kKernels = 4;
constexpr double kCacheMultiple = 4;  // STREAM's rule: each array at least four times the last-level cache
constexpr int kArraysOfAll = 3;       // --quick: the three arrays of all processes together have that size
constexpr long kQuickTrials = 2;      // --quick: the launches are repeated instead
constexpr long kTrials = 10;          // as STREAM 5.10
constexpr int kTrialsToChoose = 2;

/// The sum of the last-level caches that this process's cores can fill.
std::uint64_t cache_in_reach() {
    strata::machine::Source source;
    source.with_devices = source.with_limits = false;
    const strata::machine::Machine machine = strata::machine::read_machine(source);
    int last = 0;
    for (const auto& cache : machine.caches) last = std::max(last, cache.level);
    std::uint64_t sum = 0;
    for (const auto& cache : machine.caches) {
        const bool reached = std::any_of(cache.cores.begin(), cache.cores.end(), [&](int core) {
            const auto& pus = machine.cores[static_cast<std::size_t>(core)].pus;
            return std::any_of(pus.begin(), pus.end(), [&](int pu) {
                return std::binary_search(machine.allowed.pus.begin(), machine.allowed.pus.end(), pu);
            });
        });
        if (cache.level == last && reached) sum += cache.size_bytes;
    }
    return sum > 0 ? sum : last_level_cache();
}

class Stream {
  public:
    Stream(std::size_t n, Break fault)
        : n_(n), fault_(fault), a_(n + kPadding), b_(n + kPadding), c_(n + kPadding) {
        // Each thread touches its own part first, so that its pages lie in its own domain.
        each_part([this](std::size_t first, std::size_t count) {
            std::fill_n(a() + first, count, 1.0);
            std::fill_n(b() + first, count, 2.0);
            std::fill_n(c() + first, count, 0.0);
        });
    }

    /// One kernel over the whole arrays.
    void run(int kernel, Stores stores) {
        if (fault_ != Break::skip) {
            each_part([&](std::size_t first, std::size_t count) {
                double *a = this->a() + first, *b = this->b() + first, *c = this->c() + first;
                if (kernel == 0) copy(c, a, count, stores);
                if (kernel == 1) scale(b, c, kQ, count, stores);
                if (kernel == 2) add(c, a, b, count, stores);
                if (kernel == 3) triad(a, b, c, kQ, count, stores);
            });
        }
        if (fault_ == Break::perturb && kernel == 3) a()[n_ / 2] *= 1.001;
    }

    /// The largest of the three arrays' average relative errors after `trials` rounds of all four kernels.
    [[nodiscard]] double error(int trials) const {
        double a = 1.0, b = 2.0, c = 0.0;
        for (int i = 0; i < trials; ++i) {
            c = a;
            b = kQ * c;
            c = a + b;
            a = b + kQ * c;
        }
        const auto average = [this](const double* array, double expected) {
            double sum = 0;
            for (std::size_t i = 0; i < n_; ++i) sum += std::fabs(array[i] - expected);
            return sum / static_cast<double>(n_) / std::fabs(expected);
        };
        return std::max({average(this->a(), a), average(this->b(), b), average(this->c(), c)});
    }

    [[nodiscard]] std::size_t huge_bytes() const {
        return a_.memory().huge_bytes() + b_.memory().huge_bytes() + c_.memory().huge_bytes();
    }

  private:
    // Arrays that start at the same place of a page make loads wait for stores to the "same" address (4 KiB
    // aliasing): each starts a different number of lines into its first page.
    static constexpr std::size_t kPadding = 512, kShift = 3 * 8 * kLineDoubles;

    [[nodiscard]] double* a() const { return a_.data(); }
    [[nodiscard]] double* b() const { return b_.data() + kShift / 2; }
    [[nodiscard]] double* c() const { return c_.data() + kShift; }

    template <class F>
    void each_part(F&& work) const {
        const std::size_t lines = (n_ + kLineDoubles - 1) / kLineDoubles;
#ifdef _OPENMP
#pragma omp parallel
        {
            const auto threads = static_cast<std::size_t>(omp_get_num_threads());
            const auto thread = static_cast<std::size_t>(omp_get_thread_num());
#else
        {
            const std::size_t threads = 1, thread = 0;
#endif
            const std::size_t first = std::min(n_, lines * thread / threads * kLineDoubles);
            const std::size_t last = std::min(n_, lines * (thread + 1) / threads * kLineDoubles);
            work(first, last - first);
        }
    }

    std::size_t n_;
    Break fault_;
    Array<double> a_, b_, c_;
};

/// As HPCC sizes them. Not made smaller where they do not fit: it would be another measurement.
std::size_t elements_as_hpcc(Group& group, const Parsed& given, Result& result) {
    for (const char* other : {"--array", "--quick"})
        if (given.has(other))
            throw Error("two sizes of the arrays")
                .given(fmt::format("--hpcc-size and {}", other))
                .allowed("one of them");
    const auto processes = static_cast<std::uint64_t>(group.size());
    const auto memory = static_cast<std::uint64_t>(group.from_first(static_cast<double>(installed_memory())));
    const std::uint64_t order = hpl_order(memory), n = hpcc_vector(order, processes);
    require_memory(3 * n * sizeof(double) * processes, "STREAM with arrays sized from memory, as HPCC does,");
    result.parameter("hpl order", static_cast<std::int64_t>(order));
    result.notes.push_back(
        fmt::format("arrays as HPCC sizes them: N = {} of HPL's matrix in 80 % of {}, so N^2 / (3 x {}) = {} "
                    "elements each",
                    order, print_size(memory), processes, n));
    return n;
}

std::size_t elements(Group& group, const Parsed& given, Result& result) {
    if (given.has("--hpcc-size")) return elements_as_hpcc(group, given, result);
    const std::uint64_t cache = cache_in_reach();
    const auto processes = static_cast<std::uint64_t>(group.size());
    if (given.has("--array")) {
        const std::uint64_t bytes = given.size("--array");
        if (bytes < 1024)
            throw Error("the arrays are too small").given(print_size(bytes)).allowed("1 KiB or more");
        require_memory(3 * bytes * processes, "STREAM");
        if (static_cast<double>(bytes) <
            kCacheMultiple * static_cast<double>(cache) / static_cast<double>(processes))
            result.notes.push_back(
                fmt::format("arrays of {} are smaller than four times the last-level cache of {}: "
                            "this is not memory bandwidth",
                            print_size(bytes), print_size(cache)));
        return bytes / sizeof(double);
    }
    const auto wanted = static_cast<std::uint64_t>(kCacheMultiple * static_cast<double>(cache));
    if (given.has("--quick")) {
        const std::uint64_t bytes = std::max<std::uint64_t>(wanted / kArraysOfAll / processes, 1024);
        require_memory(kArraysOfAll * bytes * processes,
                       "STREAM with arrays of together four times the last-level cache");
        result.notes.push_back(
            "--quick: the arrays together have four times the last-level cache, where "
            "STREAM's rule asks it of each");
        return static_cast<std::uint64_t>(group.from_first(static_cast<double>(bytes))) / sizeof(double);
    }
    // All processes of a node share its memory. When four times the cache a process does not fit, four times
    // shared among the processes, which together still outsize the cache, must.
    const std::uint64_t supply = available_memory() / 2 / processes / 3;
    std::uint64_t bytes = std::min(wanted, std::max(supply, wanted / processes));
    bytes = static_cast<std::uint64_t>(group.from_first(static_cast<double>(bytes)));
    require_memory(3 * bytes * processes, "STREAM with arrays of four times the last-level cache");
    return bytes / sizeof(double);
}

void declare_stream(Options& options) {
    options
        .option("--array", "SIZE", "",
                "bytes of each of the three arrays; without it four times the last-level cache")
        .flag("--hpcc-size",
              "arrays as HPCC sizes them, together as large as HPL's matrix in 80 % of memory; refused where "
              "that does not fit")
        .option("--trials", "N", "",
                "rounds of the four kernels; the best counts, as STREAM defines it; 10, --quick 2")
        .option(
            "--stores", "KIND", "best",
            "best, cached or streaming: how results go to memory; or one of the last two for each kernel, as "
            "cached,cached,streaming,streaming")
        .example("strata bench stream --layout 1x2", "two bound threads")
        .example("strata bench stream --stores cached", "what a compiler's plain loop gets");
}

using StoresOfKernels = std::array<Stores, kKernels>;

const char* word(Stores stores) { return stores == Stores::streaming ? "streaming" : "cached"; }

std::string words(const StoresOfKernels& stores) {
    return fmt::format("{},{},{},{}", word(stores[0]), word(stores[1]), word(stores[2]), word(stores[3]));
}

/// The kinds of stores that were asked for by name; none where they are to be chosen.
std::optional<StoresOfKernels> named_stores(const Parsed& given) {
    const std::string text = given.text("--stores");
    if (text == "best") return std::nullopt;
    StoresOfKernels stores{};
    std::size_t found = 0;
    for (std::size_t begin = 0; begin <= text.size() && found <= kKernels; ++found) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string kind = text.substr(begin, end - begin);
        if ((kind != "cached" && kind != "streaming") || found == kKernels) {
            found = 0;
            break;
        }
        stores[found] = kind == "streaming" ? Stores::streaming : Stores::cached;
        begin = end + 1;
    }
    if (found == 1) stores.fill(stores[0]);
    if (found != 1 && found != kKernels)
        throw Error("no such kind of stores")
            .at("--stores")
            .given(text)
            .allowed("best, cached, streaming, or one of the last two for each of copy,scale,add,triad");
    if (!has_streaming_stores() && std::ranges::count(stores, Stores::streaming) > 0)
        throw Error("this processor has no streaming stores")
            .given("--stores " + text)
            .allowed("best, cached");
    return stores;
}

/// Which stores win for each kernel here: measured, since it depends on the processor and on the number of
/// threads.
StoresOfKernels choose(Group& group, Stream& stream, int& trials) {
    StoresOfKernels chosen{};
    chosen.fill(Stores::cached);
    if (!has_streaming_stores()) return chosen;
    std::array<std::array<double, kKernels>, 2> best{};
    for (auto& times : best) times.fill(std::numeric_limits<double>::infinity());
    for (int trial = 0; trial < 2 * kTrialsToChoose; ++trial, ++trials) {
        const int kind = trial % 2;
        for (int kernel = 0; kernel < kKernels; ++kernel) {
            const auto stores = kind == 0 ? Stores::cached : Stores::streaming;
            const double time = seconds_together(group, [&] { stream.run(kernel, stores); });
            auto& kept = best[static_cast<std::size_t>(kind)][static_cast<std::size_t>(kernel)];
            kept = std::min(kept, time);
        }
    }
    for (std::size_t kernel = 0; kernel < kKernels; ++kernel)
        if (best[1][kernel] < best[0][kernel]) chosen[kernel] = Stores::streaming;
    return chosen;
}

Result run_stream(Group& group, const Parsed& given, Break fault) {
    Result result;
    const std::size_t n = elements(group, given, result);
    // The arrays grow fifteenfold a round: after 260 rounds they would overflow, and nothing could be
    // verified.
    const long wanted = given.has("--trials")  ? given.integer("--trials", 1, 200)
                        : given.has("--quick") ? kQuickTrials
                                               : kTrials;
    const auto named = named_stores(given);
    Stream stream(n, fault);
    int trials = 0;
    const StoresOfKernels stores = named ? *named : choose(group, stream, trials);
    std::array<double, kKernels> best{};
    best.fill(std::numeric_limits<double>::infinity());
    for (long trial = 0; trial < wanted; ++trial, ++trials) {
        for (int kernel = 0; kernel < kKernels; ++kernel) {
            const auto of_kernel = stores[static_cast<std::size_t>(kernel)];
            const double time = seconds_together(group, [&] { stream.run(kernel, of_kernel); });
            auto& kept = best[static_cast<std::size_t>(kernel)];
            kept = std::min(kept, time);
        }
    }
    const double elements_of_all = static_cast<double>(n) * group.size();
    result.verification = {"largest average relative error of the three arrays",
                           group.max(stream.error(trials)), 1e-13, "STREAM 5.10's rule for double precision"};
    result.parameter("array", static_cast<std::int64_t>(n * sizeof(double)));
    result.parameter("trials", static_cast<std::int64_t>(wanted));
    result.parameter("stores", words(stores));
    result.parameter("huge page share", static_cast<double>(stream.huge_bytes()) /
                                            (3.0 * sizeof(double) * static_cast<double>(n)));
    for (std::size_t kernel = 0; kernel < kKernels; ++kernel) {
        const double bytes = kArrays[kernel] * sizeof(double) * elements_of_all;
        result.figures.push_back({kNames[kernel], bytes / best[kernel] * 1e-9, "GB/s", true, bytes,
                                  kFlops[kernel] * elements_of_all});
        result.notes.push_back(fmt::format("{}: {} stores", kNames[kernel], word(stores[kernel])));
    }
    if (group.size() > 1) {
        const double per_process = result.figures[3].value / group.size();
        result.figures.push_back({"triad, a process", per_process, "GB/s", true, {}, {}});
    }
    return result;
}

}  // namespace

const Benchmark stream = {"stream", "memory bandwidth: STREAM copy, scale, add and triad", declare_stream,
                          run_stream};

}  // namespace strata::bench::hpcc
