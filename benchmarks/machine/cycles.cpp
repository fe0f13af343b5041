// How well a fixed piece of work repeats: the same cache-resident kernel over and over on one core, each time
// in ticks of the time-stamp counter and, where there is one, of the processor's cycle counter. "We can
// repeatably measure cycle counts to an accuracy of a few cycles per ten million", with threads held on
// isolated processors (McCorquodale, de St. Germain, Parker and Johnson, The Uintah Parallelism
// Infrastructure: A Performance Evaluation on the SGI Origin 2000); the default work is of that length.
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/random.hpp"
#include "benchmarks/machine/cycle_counter.hpp"
#include "benchmarks/machine/machine.hpp"
#include "benchmarks/machine/statistics.hpp"
#include "benchmarks/machine/ticks.hpp"
#include "benchmarks/machine/work.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"

namespace strata::bench::machine_measures {

std::uint64_t fold(std::span<const std::uint64_t> words, std::uint64_t passes, std::uint64_t state) noexcept {
    for (std::uint64_t pass = 0; pass < passes; ++pass)
        for (const std::uint64_t word : words) {
            state = state * kFactor + word;
            asm volatile("" : "+r"(state));  // else a compiler may regroup the steps
        }
    return state;
}

namespace {

constexpr std::int64_t kWarmUps = 20;  // the clock of an idle core needs a while to rise

/// The samples of one launch, one for each repetition, and what disturbed them.
struct Samples {
    std::vector<double> ticks, cycles, instructions;
    std::uint64_t state = 0;
    long involuntary = 0;
    long moves = 0;  // repetitions that ended on another CPU than the one before
    double ticks_a_second = 0;
    bool counted_whole = true;
};

long involuntary_switches() {
    rusage used{};
    return getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_nivcsw : 0;
}

Samples measure(std::span<const std::uint64_t> words, std::uint64_t passes, std::int64_t repeats,
                const CycleCounter& counter, Break fault) {
    const auto n = static_cast<std::size_t>(repeats);
    Samples own;
    // Touched beforehand, so that no repetition pays for a page.
    own.ticks.assign(n, 0.0);
    if (counter.works()) {
        own.cycles.assign(n, 0.0);
        own.instructions.assign(n, 0.0);
    }
    for (std::int64_t i = 0; i < kWarmUps; ++i) own.state = fold(words, passes, own.state);
    own.state = 0;
    const long switches = involuntary_switches();
    int cpu = sched_getcpu();
    const double began = now();
    const std::uint64_t first = machine::ordered_ticks();
    for (std::size_t i = 0; i < n; ++i) {
        const CycleCounter::Count before = counter.read();
        const std::uint64_t start = machine::ordered_ticks();
        if (fault != Break::skip) own.state = fold(words, passes, own.state);
        own.ticks[i] = static_cast<double>(machine::ordered_ticks() - start);
        if (counter.works()) {
            const CycleCounter::Count after = counter.read();
            own.cycles[i] = static_cast<double>(after.cycles - before.cycles);
            own.instructions[i] = static_cast<double>(after.instructions - before.instructions);
            own.counted_whole = own.counted_whole && after.whole;
        }
        const int here = sched_getcpu();  // from the thread's own memory: no system call
        own.moves += here != cpu;
        cpu = here;
    }
    const std::uint64_t last = machine::ordered_ticks();
    own.ticks_a_second = static_cast<double>(last - first) / (now() - began);
    own.involuntary = involuntary_switches() - switches;
    if (fault == Break::perturb) own.state ^= 1;
    return own;
}

/// How much longer than the shortest repetition the longest of each share was: one point for "half of them",
/// "one in ten", "one in a hundred" and so on, and the longest of all at 1/n.
Curve excess(std::span<const double> ascending, const std::string& name) {
    Curve curve{name, {"share of the repetitions that take longer", ""}, {"over the shortest", "ppm"}, {}};
    constexpr std::array kShares = {0.9,  0.75, 0.5,  0.25, 0.1,  0.05, 0.02,
                                    0.01, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4};
    const double least = 1.0 / static_cast<double>(ascending.size());
    const auto over = [&](double share) {
        return 1e6 * (exceeded_by(ascending, share) - ascending.front()) / ascending.front();
    };
    for (const double share : kShares)
        if (share > least * 1.5) curve.points.emplace_back(share, over(share));
    curve.points.emplace_back(least, over(0));
    return curve;
}

void add_spread(Result& result, std::vector<double> samples, const std::string& of) {
    std::sort(samples.begin(), samples.end());
    const auto spread = spread_of(samples);
    if (!spread) return;
    const auto ppm = [&](const char* name, double value) {
        result.figures.push_back({name + of, value, "ppm", false, {}, {}});
    };
    ppm("p99 over median", spread->p99);
    ppm("interquartile range", spread->interquartile);
    ppm("longest over shortest", spread->range);
    ppm("median over shortest", 1e6 * (spread->median - spread->shortest) / spread->shortest);
    result.curves.push_back(excess(samples, "over the shortest" + of));
}

void declare_cycles(Options& options) {
    options.option("--repeats", "N", "", "how often; without it 1000, or 300 with --quick")
        .option("--work", "STEPS", "2097152", "steps of one repetition, some 4 to 5 cycles each")
        .option("--set", "SIZE", "16KiB", "what each pass reads: it stays in the first cache")
        .example("strata bench cycles --layout 1x1", "on one core that the thread is held on")
        .example("strata bench cycles --layout 1x1 --bind none", "and where the system puts it");
}

Result run_cycles(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("cycles are counted by one process").given(std::to_string(group.size())).allowed("1");
    const auto steps = static_cast<std::uint64_t>(given.integer("--work", 1000, 1'000'000'000));
    const std::int64_t repeats = given.has("--repeats") ? given.integer("--repeats", 10, 1'000'000)
                                 : given.has("--quick") ? 300
                                                        : 1000;
    const std::uint64_t set = given.size("--set");
    if (set < 64 || set > 1U << 30)
        throw Error("the working set is out of range")
            .at("--set")
            .given(print_size(set))
            .allowed("64 B to 1 GiB");
    const Array<std::uint64_t> words(std::min<std::uint64_t>(set / sizeof(std::uint64_t), steps));
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = random_bits(i);
    const std::uint64_t passes = std::max<std::uint64_t>(1, steps / words.size());
    const CycleCounter counter;
    const Samples samples = measure(words.span(), passes, repeats, counter, fault);

    Result result;
    const auto times = static_cast<std::uint64_t>(repeats) * passes;
    result.verification = {"difference of the final state from that of all steps",
                           samples.state == folded(words.span(), times, 0) ? 0.0 : 1.0, 0,
                           "Strata: docs/benchmarks.md, cycles"};
    result.parameter("repeats", repeats);
    result.parameter("work", static_cast<std::int64_t>(passes * words.size()));
    result.parameter("set", static_cast<std::int64_t>(words.size() * sizeof(std::uint64_t)));
    result.parameter("counter", ticks_kind());
    result.parameter("counter_ghz", samples.ticks_a_second * 1e-9);
    result.parameter("cycle_counter", counter.works());

    std::vector<double> ordered = samples.ticks;
    std::sort(ordered.begin(), ordered.end());
    if (!(ordered.front() > 0)) {  // the counter is coarser than the work, or there was none
        result.verification.value = NAN;
        return result;
    }
    add_spread(result, samples.ticks, "");
    result.figures.push_back(
        {"median run", 1e6 * exceeded_by(ordered, 0.5) / samples.ticks_a_second, "us", false, {}, {}});
    result.figures.push_back({"resolution", 1e6 / ordered.front(), "ppm", false, {}, {}});
    result.figures.push_back({"preemptions", static_cast<double>(samples.involuntary), "", false, {}, {}});
    result.figures.push_back({"moves", static_cast<double>(samples.moves), "", false, {}, {}});
    if (counter.works() && samples.counted_whole) {
        add_spread(result, samples.cycles, ", cycles");
        add_spread(result, samples.instructions, ", instructions");
        result.notes.push_back(
            "cycles and instructions are those of user mode: what an interruption itself "
            "takes is not among them, what it leaves in caches is");
    } else {
        result.notes.push_back(fmt::format(
            "no cycle counter: {}; the time-stamp counter tells time, so a change of the core's clock counts "
            "as spread",
            counter.works() ? "others used it meanwhile" : counter.why_not()));
    }
    return result;
}

}  // namespace

const Benchmark cycles = {"cycles",
                          "how well a fixed piece of work repeats on one core, in parts per million",
                          declare_cycles, run_cycles};

}  // namespace strata::bench::machine_measures
