// The time one cache line takes from core to core and back: the floor of every barrier, lock and message.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/median.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/common/threads.hpp"
#include "benchmarks/machine/machine.hpp"
#include "benchmarks/machine/pairs.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"

namespace strata::bench::machine_measures {
namespace {

constexpr double kPairSeconds = 3e-3;  // what one pair costs, threads included: measured 1.5 to 3 ms
constexpr std::uint64_t kSeed = 1999;

struct alignas(128) Line {  // two lines, as the adjacent one is fetched along on some processors
    std::atomic<std::uint64_t> value{0};
};

struct Exchange {
    double ns = 0;
    std::uint64_t seen_first = 0, seen_second = 0;  // sums of the values that each side was handed
};

/// One thread writes odd numbers and waits for the even ones that the other answers with: each hand-over
/// moves the line.
Exchange exchange(int pu_a, int pu_b, std::uint64_t rounds, int windows, Break fault) {
    Line line;
    Exchange result;
    std::vector<double> times(static_cast<std::size_t>(windows));
    const std::array pus = {pu_a, pu_b};
    const std::uint64_t all = fault == Break::skip ? 0 : rounds * static_cast<std::uint64_t>(windows + 1);
    on_pus(pus, [&](int member) {
        std::uint64_t seen = 0;
        double start = now();
        for (std::uint64_t i = 0; i < all; ++i) {
            std::uint64_t value = 0;
            if (member == 0) {
                if (i % rounds == 0) {  // the first window warms up
                    const double at = now();
                    if (i >= 2 * rounds) times[i / rounds - 2] = at - start;
                    start = at;
                }
                line.value.store(2 * i + 1, std::memory_order_release);
                while ((value = line.value.load(std::memory_order_acquire)) != 2 * i + 2) {
                }
            } else {
                while ((value = line.value.load(std::memory_order_acquire)) != 2 * i + 1) {
                }
                line.value.store(2 * i + 2, std::memory_order_release);
            }
            seen += value;
        }
        if (member == 0) {
            times.back() = now() - start;
            result.seen_first = seen;
        } else {
            result.seen_second = seen + (fault == Break::perturb ? 1 : 0);
        }
    });
    result.ns = median(times) / static_cast<double>(rounds) * 1e9;
    return result;
}

void declare_lines(Options& options) {
    options.option("--budget", "SECONDS", "", "pairs are sampled, kind by kind, when all would take longer")
        .option("--rounds", "N", "1000", "round trips in each of five windows, of which the median counts")
        .example("strata bench lines", "all pairs of cores, or as many as fit 30 s");
}

/// The PUs that pass lines: one of each core; held to one core, its hardware threads.
std::vector<int> partners(const machine::Machine& machine, bool& one_core) {
    std::vector<int> pus = one_pu_a_core(machine, process_pus());
    one_core = pus.size() < 2 && process_pus().size() > 1;
    if (one_core) pus = process_pus();
    if (pus.size() < 2)
        throw Error("passing a cache line needs two cores", kFailure)
            .given(fmt::format("{} usable core", pus.size()))
            .allowed("2 or more")
            .remedy("strata bench lines --layout 1xN with N cores");
    return pus;
}

std::vector<int> cores_of(const machine::Machine& machine, const std::vector<int>& pus) {
    std::vector<int> cores;
    for (const int pu : pus)
        for (const machine::Core& core : machine.cores)
            if (std::find(core.pus.begin(), core.pus.end(), pu) != core.pus.end())
                cores.push_back(core.index);
    return cores;
}

/// The median of all pairs, and of those of each kind.
void add_figures(Result& result, const std::map<Shared, std::vector<double>>& by_kind) {
    std::vector<double> every;
    for (const auto& [kind, values] : by_kind) every.insert(every.end(), values.begin(), values.end());
    result.figures.push_back({"round trip", median(every), "ns", false, {}, {}});
    if (by_kind.size() > 1)
        for (const auto& [kind, values] : by_kind)
            result.figures.push_back(
                {fmt::format("round trip, {}", text(kind)), median(values), "ns", false, {}, {}});
}

Result run_lines(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("lines are passed by the threads of one process")
            .given(std::to_string(group.size()))
            .allowed("1");
    const auto rounds = static_cast<std::uint64_t>(given.integer("--rounds", 10, 10'000'000));
    const machine::Machine machine = machine::read_machine({"system", false, false});
    bool one_core = false;
    const std::vector<int> pus = partners(machine, one_core), cores = cores_of(machine, pus);
    const double budget = given.has("--budget")  ? given.seconds("--budget")
                          : given.has("--quick") ? 1.0
                                                 : 30.0;
    constexpr int windows = 5;
    const auto most = std::max<std::size_t>(1, static_cast<std::size_t>(budget / kPairSeconds));
    const auto pairs = choose_pairs(machine, cores, most, kSeed);

    Result result;
    Matrix matrix{"cache-line round trip", "ns", pus, pus, {}};
    matrix.values.assign(pus.size(), std::vector<std::optional<double>>(pus.size()));
    std::map<Shared, std::vector<double>> by_kind;
    std::size_t wrong = 0;
    Progress progress("pairs of cores", pairs.size());
    for (const auto& [a, b] : pairs) {
        const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
        const Exchange done = exchange(pus[i], pus[j], rounds, windows, fault);
        const std::uint64_t n = rounds * (windows + 1);
        wrong += done.seen_first != n * (n + 1) ||
                 done.seen_second != n * n;  // sums of 2, 4 .. 2n and of 1, 3 .. 2n-1
        matrix.values[i][j] = matrix.values[j][i] = done.ns;
        by_kind[shared_by(machine, cores[i], cores[j])].push_back(done.ns);
        progress.step();
    }
    result.verification = {"pairs whose hand-overs do not add up", static_cast<double>(wrong), 0,
                           "Strata: docs/benchmarks.md, lines"};
    result.parameter("rounds", static_cast<std::int64_t>(rounds));
    result.parameter("pairs", static_cast<std::int64_t>(pairs.size()));
    if (one_core) result.notes.emplace_back("between the hardware threads of one core");
    const std::size_t all = pus.size() * (pus.size() - 1) / 2;
    if (pairs.size() < all)
        result.notes.push_back(
            fmt::format("{} of {} pairs were sampled within {}", pairs.size(), all, print_seconds(budget)));
    add_figures(result, by_kind);
    result.matrices.push_back(std::move(matrix));
    return result;
}

}  // namespace

const Benchmark lines = {"lines", "a cache line from core to core and back, for pairs of cores",
                         declare_lines, run_lines};

}  // namespace strata::bench::machine_measures
