// The peak of the arithmetic units, measured: what DGEMM and every other figure in flop/s stands beside.
#include <fmt/format.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <cmath>
#include <vector>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/machine/machine.hpp"
#include "benchmarks/machine/units.hpp"

namespace strata::bench::machine_measures {
namespace {

constexpr double kFactor = 1 - 0x1p-12, kAddend = 0x1p-12;
constexpr std::size_t kIterations =
    20'000;  // 120,000 cycles and more: the check of its result costs nothing beside it
constexpr int kWindows = 7;

struct alignas(64) States {
    double x[kStates];
};

States start() {
    States states{};
    for (std::size_t i = 0; i < kStates; ++i) states.x[i] = 2.0 + static_cast<double>(i) / kStates;
    return states;
}

/// Runs the kernel for a while on this thread: how often, and in how many runs the result was not what it
/// must be.
struct Done {
    std::size_t runs = 0, wrong = 0;
};
Done work_until(double end, const States& expected, Break fault) {
    Done done;
    const States begin = start();
    do {
        States states = begin;
        if (fault != Break::skip) multiply_add(states.x, kFactor, kAddend, kIterations);
        if (fault == Break::perturb) states.x[kStates - 1] *= 1 + 1e-12;
        ++done.runs;
        done.wrong += !std::equal(states.x, states.x + kStates, expected.x);
    } while (now() < end);
    return done;
}

/// Flop/s of all threads of this process in one window, by its slowest thread.
double window(int threads, double seconds, const States& expected, Break fault, std::size_t& wrong) {
    std::size_t runs = 0, bad = 0;
    double slowest = 0;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) reduction(+ : runs, bad) reduction(max : slowest)
#endif
    {
#ifdef _OPENMP
#pragma omp barrier
#endif
        const double began = now();
        const Done done = work_until(began + seconds, expected, fault);
        slowest = now() - began;
        runs = done.runs;
        bad = done.wrong;
    }
    (void)threads;
    wrong += bad;
    return static_cast<double>(runs) * static_cast<double>(2 * kStates * kIterations) / slowest;
}

double best(Group& group, int threads, bool alone, double seconds, const States& expected, Break fault,
            std::size_t& wrong) {
    std::vector<double> rates;
    for (int i = 0; i < kWindows; ++i) {
        group.barrier();
        const bool takes_part = !alone || group.rank() == 0;
        const double rate = takes_part ? window(threads, seconds / kWindows, expected, fault, wrong) : 0;
        rates.push_back(group.sum(rate));
    }
    // The median: a clock that rises for one window does not stay there.
    std::nth_element(rates.begin(), rates.begin() + kWindows / 2, rates.end());
    return rates[kWindows / 2];
}

void declare_peak(Options& options) {
    options.example("strata bench peak --layout 1x2", "one core, and two at once");
}

Result run_peak(Group& group, const Parsed& given, Break fault) {
    const double seconds = given.has("--quick") ? 0.3 : 2.0;
    const int threads = thread_count();
    States expected = start();
    for (double& x : expected.x) x = multiply_add_reference(x, kFactor, kAddend, kIterations);
    std::size_t wrong = 0;
    Result result;
    const bool several = threads > 1 || group.size() > 1;
    const double alone = several ? best(group, 1, true, seconds / 2, expected, fault, wrong) : 0;
    const double all = best(group, threads, false, seconds / 2, expected, fault, wrong);
    result.verification = {"runs whose multiply-adds gave another result than one after the other",
                           group.sum(static_cast<double>(wrong)), 0, "Strata: docs/benchmarks.md, peak"};
    result.parameter("vector", static_cast<std::int64_t>(kLanes * sizeof(double)));
    result.parameter("chains", static_cast<std::int64_t>(kChains));
    result.figures.push_back({"peak", all * 1e-9, "GF/s", true, {}, {}});
    if (several) result.figures.push_back({"peak, one core alone", alone * 1e-9, "GF/s", true, {}, {}});
    return result;
}

}  // namespace

const Benchmark peak = {"peak", "multiply-adds in registers: the peak of one core and of all", declare_peak,
                        run_peak};

}  // namespace strata::bench::machine_measures
