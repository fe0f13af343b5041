// How many messages a second many pairs of processes exchange at once: each sender sends a window of messages
// back to back and waits for one small answer (multiple bandwidth / message rate test of the OSU
// micro-benchmarks; Liu et al., Micro-benchmark level performance comparison of high-speed cluster
// interconnects, Hot Interconnects 11, 2003).
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/hpcc/exchange.hpp"
#include "benchmarks/osu/osu.hpp"
#include "benchmarks/osu/windows.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"

namespace strata::bench::osu {
namespace {

constexpr std::size_t kShort = 8, kLong = 2'000'000, kMost = std::size_t{64} << 20;
constexpr double kLoopSeconds = 10e-3, kLoopSecondsQuick = 4e-3;

/// One number is the largest of the powers of two from 1 B on, several are the sizes themselves.
std::vector<std::size_t> sizes(const Parsed& given) {
    const bool quick = given.has("--quick");
    const std::string text = given.has("--bytes") ? given.text("--bytes") : quick ? "64KiB" : "4MiB";
    std::vector<std::size_t> list;
    std::stringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        const std::uint64_t bytes = parse_size(word);
        if (bytes < 1 || bytes > kMost)
            throw Error("--bytes is out of range").given(word).allowed("1 B .. 64 MiB");
        list.push_back(bytes);
    }
    if (list.empty()) throw Error("--bytes has no size").given(text).allowed("8,4KiB or 1MiB");
    if (text.find(',') == std::string::npos) {
        const std::size_t largest = list.front();
        list.clear();
        for (std::size_t bytes = 1; bytes <= largest; bytes *= quick ? 4 : 2) list.push_back(bytes);
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
}

void require_pairs(const Group& group) {
    hpcc::require_two(group, "message-rate");
    if (group.size() % 2 == 0) return;
    throw Error("message-rate needs an even number of processes, as each belongs to a pair")
        .given(fmt::format("{} processes", group.size()))
        .allowed("2, 4, 6, ...")
        .remedy(fmt::format("--layout {}x1", group.size() + 1));
}

/// Seconds per message of one pair, all pairs at once, by the slowest sender: the mean of a loop, the least
/// of `repeats` loops.
double per_message(Group& group, Windows& windows, End end, std::size_t bytes, int window, long repeats,
                   double loop_seconds) {
    const auto loop = [&](long count) {
        group.barrier();
        const double seconds = windows.run(bytes, count);
        return group.max(end.sends ? seconds : 0) / static_cast<double>(count);
    };
    // The first windows find cold caches and no connection: too slow to tell how many fill a loop.
    const long warm = hpcc::calls_for(loop_seconds / 2, loop(1));
    const long count = hpcc::calls_for(loop_seconds, loop(warm));
    double best = std::numeric_limits<double>::infinity();
    for (long i = 0; i < repeats; ++i) best = std::min(best, loop(count));
    windows.whole_contents(bytes);
    return best / window;
}

void declare(Options& options) {
    options
        .option(
            "--pairs", "WHICH", "near",
            "near: processes 2i and 2i + 1; far: i and i + P/2, of two domains where the layout fills two")
        .option("--bytes", "SIZES", "",
                "sizes of the curves: one is the largest of the powers of two, several, with commas, are "
                "themselves; 4MiB, --quick 64KiB in powers of four")
        .option("--window", "COUNT", "64", "messages before each answer")
        .option("--repeats", "COUNT", "5", "timed loops for each size, of which the best counts; --quick 3")
        .example("strata bench message-rate --layout 2x1", "one pair, of two neighbouring cores")
        .example("strata bench message-rate --layout 16x1 --pairs far",
                 "eight pairs at once, between two domains")
        .example("strata bench message-rate --layout 4x1 --bytes 8,1KiB,64KiB --json rate.json",
                 "these sizes alone");
}

Result run(Group& group, const Parsed& given, Break fault) {
    require_pairs(group);
    const std::string which = given.choice("--pairs", {"near", "far"});
    const int window = static_cast<int>(given.integer("--window", 1, kMostWindow));
    const bool quick = given.has("--quick");
    const long repeats = given.has("--repeats") || !quick ? given.integer("--repeats", 1, 10000) : 3;
    const double loop_seconds = quick ? kLoopSecondsQuick : kLoopSeconds;
    const std::vector<std::size_t> curve = sizes(given);
    const End end = end_of(group.rank(), group.size(), which == "far");
    const int pairs = group.size() / 2;
    Windows windows(group.rank(), end, window, std::max(curve.back(), kLong), fault);

    const auto measure = [&](std::size_t bytes) {
        return per_message(group, windows, end, bytes, window, repeats, loop_seconds);
    };
    const double rate = pairs / measure(kShort) * 1e-6;
    const double bandwidth = pairs * static_cast<double>(kLong) / measure(kLong) * 1e-9;
    Result result;
    Curve rates{"message rate", {"message", "B"}, {"rate", "Mmsg/s"}, {}};
    Curve bandwidths{"bandwidth", {"message", "B"}, {"bandwidth", "GB/s"}, {}};
    Progress progress("message-rate", curve.size());
    for (const std::size_t bytes : curve) {
        const double seconds = measure(bytes);
        rates.points.emplace_back(bytes, 1e-6 * pairs / seconds);
        bandwidths.points.emplace_back(bytes, 1e-9 * pairs * static_cast<double>(bytes) / seconds);
        progress.step();
    }
    result.parameter("pairs", which);
    result.parameter("number of pairs", std::int64_t{pairs});
    result.parameter("window", std::int64_t{window});
    result.parameter("repeats", std::int64_t{repeats});
    result.figures = {
        {"message rate", rate, "Mmsg/s", true, 8.0},
        {"message rate, a pair", rate / pairs, "Mmsg/s", true},
        {"bandwidth", bandwidth, "GB/s", true, 2e6},
    };
    result.curves = {std::move(rates), std::move(bandwidths)};
    result.verification = {"messages, answers and bytes that did not arrive as sent",
                           group.sum(static_cast<double>(windows.mismatches())), 0, "exact"};
    result.notes = {fmt::format(
        "Windows of {} MPI_Isend, one 8 B answer each, in one direction, all pairs at once; rate for 8 B, "
        "bandwidth for 2,000,000 B; the slowest sender's time, and the best of {} loops of about {:.0f} ms.",
        window, repeats, 1e3 * loop_seconds)};
    return result;
}

}  // namespace

const Benchmark message_rate = {"message-rate", "messages a second of many pairs of processes at once",
                                declare, run};

}  // namespace strata::bench::osu
