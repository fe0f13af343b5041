// Noise of the operating system: a fixed quantum of work, over and over, on every core at once. Whatever a
// quantum takes longer than the shortest one went to somebody else: daemons, interrupts, the hypervisor
// (fixed work quantum: Sottile and Minnich, Analysis of microbenchmarks for performance tuning of clusters,
// IEEE Cluster 2004; FWQ of the LLNL FTQ/FWQ benchmarks).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/threads.hpp"
#include "benchmarks/machine/machine.hpp"
#include "benchmarks/machine/statistics.hpp"
#include "benchmarks/machine/work.hpp"
#include "core/base/error.hpp"

namespace strata::bench::machine_measures {

std::uint64_t work(std::uint64_t state, std::uint64_t steps) noexcept {
    for (std::uint64_t i = 0; i < steps; ++i) {
        state = state * kFactor + kAddend;
        asm volatile("" : "+r"(state));  // else a compiler may jump ahead as the verification does
    }
    return state;
}

namespace {

constexpr int kDelaysAnOctave = 2;

struct Samples {
    std::vector<float> seconds;
    std::uint64_t state = 0;
    double shortest = 0;
};

/// All cores start together and end by the clock, so that what disturbs one is seen beside the others.
std::vector<Samples> measure(const std::vector<int>& pus, std::uint64_t steps, double duration, Break fault) {
    std::vector<Samples> all(pus.size());
    SpinBarrier together(static_cast<int>(pus.size()));
    const auto expected = static_cast<std::size_t>(duration / (static_cast<double>(steps) * 0.5e-9)) + 16;
    on_pus(pus, [&](int member) {
        Samples& own = all[static_cast<std::size_t>(member)];
        own.seconds.reserve(expected);  // and touched, so that no quantum pays for a page of its own
        own.seconds.assign(expected, 0.0F);
        own.seconds.clear();
        own.state = static_cast<std::uint64_t>(member);
        own.state = work(own.state, 20 * steps);  // the clock of an idle core needs a while to rise
        own.state = static_cast<std::uint64_t>(member);
        together.wait();
        const double end = now() + duration;
        double before = now();
        while (before < end && own.seconds.size() < expected) {
            if (fault != Break::skip) own.state = work(own.state, steps);
            const double after = now();
            own.seconds.push_back(static_cast<float>(after - before));
            before = after;
        }
        if (fault == Break::perturb) own.state ^= 1;
    });
    return all;
}

/// How many quanta a second are delayed by more than t, on all cores together, over t: the tail tells daemons
/// (seldom, long) from ticks (often, short).
Curve tail(const std::vector<Samples>& all) {
    Curve curve{"delays longer than", {"delay", "us"}, {"delays of a core", "1/s"}, {}};
    double seconds = 0;
    for (const Samples& one : all)
        for (const float s : one.seconds) seconds += static_cast<double>(s);
    for (int k = 0; k <= 14 * kDelaysAnOctave; ++k) {
        const double delay = 1e-6 * std::exp2(static_cast<double>(k) / kDelaysAnOctave);
        std::size_t longer = 0;
        for (const Samples& one : all)
            for (const float s : one.seconds) longer += static_cast<double>(s) - one.shortest > delay;
        curve.points.emplace_back(delay * 1e6, static_cast<double>(longer) / seconds);
    }
    return curve;
}

/// What happened over time on one core: the longest quantum of each of some hundred parts, so that no
/// interruption is lost by thinning.
Curve over_time(int pu, const Samples& samples) {
    constexpr std::size_t kPoints = 500;
    Curve curve{fmt::format("quanta over time, PU {}", pu), {"time", "s"}, {"longest quantum", "us"}, {}};
    const std::size_t n = samples.seconds.size(), parts = std::min(n, kPoints);
    double time = 0;
    for (std::size_t part = 0; part < parts; ++part) {
        double longest = 0;
        const double began = time;
        for (std::size_t i = n * part / parts; i < n * (part + 1) / parts; ++i) {
            longest = std::max(longest, static_cast<double>(samples.seconds[i]));
            time += static_cast<double>(samples.seconds[i]);
        }
        curve.points.emplace_back(began, longest * 1e6);
    }
    return curve;
}

void declare_noise(Options& options) {
    options.option("--duration", "SECONDS", "", "how long")
        .option("--work", "STEPS", "262144", "dependent integer steps in a quantum, 4 to 5 cycles each")
        .flag("--samples", "also what each core saw over time")
        .example("strata bench noise --duration 60s --samples",
                 "a minute: daemons that wake seldom are seen too");
}

Result run_noise(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("noise is measured by the threads of one process")
            .given(std::to_string(group.size()))
            .allowed("1");
    const machine::Machine machine = machine::read_machine({"system", false, false});
    const std::vector<int> pus = one_pu_a_core(machine, process_pus());
    const double duration = given.has("--duration") ? given.seconds("--duration")
                            : given.has("--quick")  ? 1.0
                                                    : 10.0;
    if (!(duration > 0 && duration <= 3600))
        throw Error("the duration is out of range").at("--duration").allowed("up to 1h");
    const auto steps = static_cast<std::uint64_t>(given.integer("--work", 1000, 1'000'000'000));
    std::vector<Samples> all = measure(pus, steps, duration, fault);

    Result result;
    Curve lost{"lost to other work", {"cpu", ""}, {"lost time", "%"}, {}};
    Curve quantum{"time of a quantum", {"cpu", ""}, {"quantum", "us"}, {}};
    double largest_loss = 0, sum_of_losses = 0, longest = 0;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < pus.size(); ++i) {
        const auto& seconds = all[i].seconds;
        wrong += all[i].state != jump(i, steps * seconds.size());
        const auto loss = loss_of(seconds);
        if (!loss) {
            ++wrong;
            continue;
        }
        lost.points.emplace_back(pus[i], loss->percent);
        quantum.points.emplace_back(pus[i], loss->shortest * 1e6);
        largest_loss = std::max(largest_loss, loss->percent);
        sum_of_losses += loss->percent;
        longest = std::max(longest, loss->longest);
        all[i].shortest = loss->shortest;
    }
    result.verification = {"cores whose work was not all done", static_cast<double>(wrong), 0,
                           "Strata: docs/benchmarks.md, noise"};
    result.parameter("work", static_cast<std::int64_t>(steps));
    result.parameter("duration", duration);
    result.parameter("cores", static_cast<std::int64_t>(pus.size()));
    result.figures.push_back({"largest loss", largest_loss, "%", false, {}, {}});
    result.figures.push_back(
        {"mean loss", sum_of_losses / static_cast<double>(pus.size()), "%", false, {}, {}});
    result.figures.push_back({"longest interruption", longest * 1e6, "us", false, {}, {}});
    result.curves.push_back(std::move(lost));
    result.curves.push_back(std::move(quantum));
    result.curves.push_back(tail(all));
    if (given.has("--samples"))
        for (std::size_t i = 0; i < pus.size(); ++i) result.curves.push_back(over_time(pus[i], all[i]));
    return result;
}

}  // namespace

const Benchmark noise = {"noise", "time lost to other work on each core: fixed work quantum", declare_noise,
                         run_noise};

}  // namespace strata::bench::machine_measures
