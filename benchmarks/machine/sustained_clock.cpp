// The clock that cores keep while they all compute with their widest vectors. A processor lowers it for its
// power, its temperature and the kind of its instructions, so what it does in its first second says little of
// an hour (Schöne, Ilsche, Bielert, Gocht, Hackenberg: Energy efficiency features of the Intel Skylake-SP
// processor and their impact on performance, HPCS 2019).
#include <fmt/format.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/machine/clock_readings.hpp"
#include "benchmarks/machine/cycle_counter.hpp"
#include "benchmarks/machine/machine.hpp"
#include "benchmarks/machine/units.hpp"
#include "benchmarks/machine/work.hpp"
#include "core/base/error.hpp"
#include "core/machine/clock.hpp"

namespace strata::bench::machine_measures {
namespace {

/// A reading is the fastest of three chains of 64,000 cycles, about 20 us each: an interrupt meets one of
/// them. Processors that lower their clock for wide vectors keep it low for half a millisecond and more after
/// the last of them, so the chain still sees it.
constexpr std::uint64_t kRounds = 2000;
constexpr int kChainsAReading = 3;
constexpr double kSlice = 3e-3;    // s of load between two readings
constexpr double kBefore = 40e-3;  // s of chains alone before the load; the first half raises an idle clock
constexpr double kMostParts = 100, kLeastPart = 12.5e-3;
constexpr double kFactorOfLoad = 1 - 0x1p-12, kAddendOfLoad = 0x1p-12;
constexpr std::size_t kIterations = 20'000;  // of multiply_add in a piece of work
constexpr std::uint64_t kSteps = 65'536;     // of work() in a piece
constexpr double kCounterTolerance = 0.02;

enum class Load { vector, scalar, idle };

struct alignas(64) States {
    double x[kStates];
};

States start_of_work() {
    States states{};
    for (std::size_t i = 0; i < kStates; ++i) states.x[i] = 2.0 + static_cast<double>(i) / kStates;
    return states;
}

/// What a piece of work must come to, on any thread.
struct Expected {
    States states = start_of_work();
    std::uint64_t word = jump(1, kSteps);
    Expected() {
        for (double& x : states.x) x = multiply_add_reference(x, kFactorOfLoad, kAddendOfLoad, kIterations);
    }
};

/// What one thread saw.
struct Seen {
    std::vector<Reading> before, under_load;
    std::size_t wrong = 0;
    double pieces = 0, busy = 0;           // of the last half: how often, and in how many seconds
    std::optional<double> cycles_counted;  // for each addition of a chain, where cycles are counted
};

class Worker {
  public:
    Worker(Load load, const Expected& expected, Break fault)
        : load_(load), expected_(expected), fault_(fault) {}

    Seen run(double seconds) {
        Seen seen;
        count_cycles(seen);
        double began = now();
        while (now() - began < kBefore) read_clock(seen, seen.before, began);
        began = now();
        for (double at = 0; at < seconds; at = now() - began) {
            const double pieces = slice(seen);
            const double busy = now() - began - at;
            if (at >= seconds / 2) {
                seen.pieces += pieces;
                seen.busy += busy;
            }
            read_clock(seen, seen.under_load, began);
        }
        return seen;
    }

  private:
    void read_clock(Seen& seen, std::vector<Reading>& readings, double began) {
        double best = std::numeric_limits<double>::infinity();
        for (int i = 0; i < kChainsAReading; ++i) {
            const double start = now();
            seen.wrong += chain() != machine::kAdditionsARound * kRounds;
            best = std::min(best, now() - start);
        }
        const double ghz = 1e-9 * static_cast<double>(machine::kAdditionsARound * kRounds) / best;
        seen.wrong += !believable(ghz);
        readings.push_back({now() - began, ghz});
    }

    std::uint64_t chain() {
        const std::uint64_t sum = fault_ == Break::skip ? 0 : machine::dependent_additions(kRounds);
        return fault_ == Break::perturb ? sum + 1 : sum;
    }

    /// Load for the time of a slice; how many pieces of it were done.
    double slice(Seen& seen) {
        if (load_ == Load::idle) {
            const timespec pause{0, static_cast<long>(kSlice * 1e9)};
            nanosleep(&pause, nullptr);
            return 0;
        }
        double pieces = 0;
        const double end = now() + kSlice;
        do {
            seen.wrong += load_ == Load::vector ? !vector_piece() : !scalar_piece();
            ++pieces;
        } while (now() < end);
        return pieces;
    }

    bool vector_piece() {
        States states = begin_;
        if (fault_ != Break::skip) multiply_add(states.x, kFactorOfLoad, kAddendOfLoad, kIterations);
        if (fault_ == Break::perturb) states.x[kStates - 1] *= 1 + 1e-12;
        return std::equal(states.x, states.x + kStates, expected_.states.x);
    }

    bool scalar_piece() {
        std::uint64_t word = 1;
        if (fault_ != Break::skip) word = work(word, kSteps);
        if (fault_ == Break::perturb) word ^= 1;
        return word == expected_.word;
    }

    /// That an addition takes one cycle is asked of the processor itself, where it may be asked. The least of
    /// several chains: an interruption costs user cycles, too.
    void count_cycles(Seen& seen) {
        const CycleCounter counter;
        for (int i = 0; counter.works() && i < 8; ++i) {
            const CycleCounter::Count start = counter.read();
            seen.wrong += chain() != machine::kAdditionsARound * kRounds;
            const CycleCounter::Count end = counter.read();
            if (!start.whole || !end.whole) continue;
            const double cycles = static_cast<double>(end.cycles - start.cycles) /
                                  static_cast<double>(machine::kAdditionsARound * kRounds);
            seen.cycles_counted = std::min(cycles, seen.cycles_counted.value_or(cycles));
        }
        if (seen.cycles_counted) seen.wrong += std::fabs(*seen.cycles_counted - 1) > kCounterTolerance;
    }

    Load load_;
    const Expected& expected_;
    Break fault_;
    States begin_ = start_of_work();
};

/// All threads of the runtime's team at once.
std::vector<Seen> run_on_team(Load load, double seconds, Break fault) {
    const Expected expected;
    std::vector<Seen> all(static_cast<std::size_t>(thread_count()));
#ifdef _OPENMP
#pragma omp parallel num_threads(thread_count())
    {
        Worker worker(load, expected, fault);
#pragma omp barrier
        all[static_cast<std::size_t>(omp_get_thread_num())] = worker.run(seconds);
    }
#else
    all.front() = Worker(load, expected, fault).run(seconds);
#endif
    return all;
}

/// The least of all threads' medians; 0 where one has no reading, which verification has then refused.
double slowest(Group& group, const std::vector<Seen>& all, std::vector<Reading> Seen::*readings, double from,
               double to) {
    double least = std::numeric_limits<double>::infinity();
    for (const Seen& seen : all)
        least = std::min(least, median_between(seen.*readings, from, to).value_or(0));
    return group.min(least);
}

Curve over_time(Group& group, const std::vector<Seen>& all, double seconds) {
    Curve curve{"clock over time, slowest thread", {"time", "s"}, {"clock", "GHz"}, {}};
    std::vector<std::vector<Reading>> readings;
    for (const Seen& seen : all) readings.push_back(seen.under_load);
    const int parts = static_cast<int>(std::clamp(seconds / kLeastPart, 1.0, kMostParts));
    const auto here = slowest_over_time(readings, seconds, parts);
    constexpr double kNone = std::numeric_limits<double>::infinity();
    for (int part = 0; part < parts; ++part) {
        const double least = group.min(here[static_cast<std::size_t>(part)].value_or(kNone));
        if (std::isfinite(least)) curve.points.emplace_back(seconds * (part + 0.5) / parts, least);
    }
    return curve;
}

std::string counter_note(const std::vector<Seen>& all) {
    for (const Seen& seen : all)
        if (seen.cycles_counted)
            return fmt::format("The processor counted {:.4f} cycles for each addition of the chain.",
                               *seen.cycles_counted);
    const CycleCounter counter;
    return fmt::format("That an addition takes one cycle was not counted: {}.",
                       counter.works() ? "the counters were shared with others" : counter.why_not());
}

void declare_clock(Options& options) {
    options
        .option("--load", "KIND", "vector",
                "vector: multiply-adds with the widest vectors; scalar: dependent integer steps; idle: sleep")
        .option("--seconds", "TIME", "", "how long; 10s, --quick 500ms")
        .example("strata bench clock --layout 1x8 --seconds 120",
                 "eight cores for two minutes: what remains when the turbo budget is spent")
        .example("strata bench clock --layout 1x1 --load scalar", "one core, without vectors");
}

Result run_clock(Group& group, const Parsed& given, Break fault) {
    const std::string kind = given.choice("--load", {"vector", "scalar", "idle"});
    const Load load = kind == "vector" ? Load::vector : kind == "scalar" ? Load::scalar : Load::idle;
    const double seconds = given.has("--seconds") ? given.seconds("--seconds")
                           : given.has("--quick") ? 0.5
                                                  : 10;
    if (!(seconds >= 0.05 && seconds <= 3600))
        throw Error("the time is out of range").at("--seconds").allowed("50ms .. 1h");
    if (machine::dependent_additions(1) != machine::kAdditionsARound)
        throw Error("no chain of additions is known for this kind of processor", kFailure)
            .remedy("strata bench peak: what the vector units do, without the clock");
    group.barrier();
    const std::vector<Seen> all = run_on_team(load, seconds, fault);

    double wrong = 0, rate = 0;
    for (const Seen& seen : all) {
        wrong += static_cast<double>(seen.wrong);
        if (seen.busy > 0) rate += seen.pieces * static_cast<double>(2 * kStates * kIterations) / seen.busy;
    }
    Result result;
    result.verification = {
        fmt::format("pieces of work with a wrong result, and readings outside {} .. {} GHz", kLeastGhz,
                    kMostGhz),
        group.sum(wrong), 0, "Strata: docs/benchmarks.md, clock"};
    const double sustained = slowest(group, all, &Seen::under_load, seconds / 2, 2 * seconds);
    const double at_start = slowest(group, all, &Seen::before, kBefore / 2, 2 * kBefore);
    result.parameter("load", kind);
    result.parameter("seconds", seconds);
    if (load == Load::vector) result.parameter("vector", static_cast<std::int64_t>(kLanes * sizeof(double)));
    result.figures.push_back({"sustained clock", sustained, "GHz", true, {}, {}});
    result.figures.push_back({"clock at the start", at_start, "GHz", true, {}, {}});
    result.figures.push_back({"drop", 100 * (1 - sustained / at_start), "%", false, {}, {}});
    const double arithmetic = group.sum(rate) * 1e-9;
    if (load == Load::vector) result.figures.push_back({"arithmetic", arithmetic, "GF/s", true, {}, {}});
    result.curves.push_back(over_time(group, all, seconds));
    result.notes.push_back(
        "Clocks are medians over time of the slowest thread: the sustained one of the last half of the run, "
        "that "
        "at the start of integer additions alone just before the load.");
    result.notes.push_back(counter_note(all));
    return result;
}

}  // namespace

const Benchmark clock = {"clock", "the clock that cores keep while all of them compute with vectors",
                         declare_clock, run_clock};

}  // namespace strata::bench::machine_measures
