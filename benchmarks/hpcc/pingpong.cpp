// One message to and fro between two processes while all others are idle: the one-way time is half the round
// trip (b_eff: Rabenseifner & Koniges 2001; as HPCC reports it, 8 bytes for latency and 2,000,000 for
// bandwidth).
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/clock.hpp"
#include "benchmarks/hpcc/exchange.hpp"
#include "benchmarks/hpcc/hpcc.hpp"
#include "core/base/error.hpp"

namespace strata::bench::hpcc {
namespace {

constexpr std::size_t kShort = 8, kLong = 2'000'000, kMost = std::size_t{64} << 20;
constexpr double kLoopSeconds = 1e-3;
constexpr int kShown = 128;  // processes of which every pair is shown

using Pair = std::pair<int, int>;

/// The two ends of one exchange: `first` sends, `second` answers with what it got.
class Exchange {
  public:
    Exchange(const Group& group, Break fault, std::size_t largest, Pages pages)
        : group_(group), fault_(fault), out_(largest, pages), in_(largest, pages) {}

    /// The one-way time in seconds, the same on each process: the mean of a loop, the least of `repeats`
    /// loops.
    double one_way(Group& group, Pair pair, std::size_t bytes, int repeats) {
        group.barrier();
        double best = std::numeric_limits<double>::infinity();
        if (group.rank() == pair.first || group.rank() == pair.second) {
            const bool leads = group.rank() == pair.first;
            const int peer = leads ? pair.second : pair.first;
            loop(leads, peer, bytes, 2);
            const long rounds = agreed(peer, calls_for(kLoopSeconds, loop(leads, peer, bytes, 4)));
            for (int i = 0; i < repeats; ++i) best = std::min(best, loop(leads, peer, bytes, rounds));
            whole_contents(leads, peer, bytes);
        }
        return group.min(best / 2);
    }

    [[nodiscard]] std::uint64_t mismatches() const { return mismatches_; }

  private:
    /// The larger of both processes' values, on both; that both are here is agreed with it.
    static long agreed(int peer, long mine) {
        long theirs = 0;
        MPI_Sendrecv(&mine, 1, MPI_LONG, peer, 1, &theirs, 1, MPI_LONG, peer, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        return std::max(mine, theirs);
    }

    void send(int peer, int bytes) {
        if (fault_ != Break::skip) MPI_Send(out_.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    }
    void receive(int peer, int bytes) {
        if (fault_ != Break::skip) {
            MPI_Recv(in_.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (fault_ == Break::perturb) in_[0] ^= std::byte{1};
    }

    /// Seconds per round trip; each message carries its number, each receiver looks at it.
    double loop(bool leads, int peer, std::size_t bytes, long rounds) {
        const int count = static_cast<int>(bytes);
        const std::span<std::byte> out(out_.data(), bytes), in(in_.data(), bytes);
        const long first = agreed(peer, number_);
        number_ = first + rounds;
        const double start = now();
        for (long n = first; n < number_; ++n) {
            stamp(out, static_cast<std::uint64_t>(n));
            if (leads) {
                send(peer, count);
                receive(peer, count);
            } else {
                receive(peer, count);
                send(peer, count);
            }
            mismatches_ += !stamped(in, static_cast<std::uint64_t>(n));
        }
        return (now() - start) / static_cast<double>(rounds);
    }

    /// Outside of all timing every byte is looked at, in both directions.
    void whole_contents(bool leads, int peer, std::size_t bytes) {
        const int count = static_cast<int>(bytes);
        const std::uint64_t mine = mixed(bytes) + static_cast<std::uint64_t>(group_.rank());
        const std::uint64_t theirs = mixed(bytes) + static_cast<std::uint64_t>(peer);
        fill({out_.data(), bytes}, mine);
        if (leads) {
            send(peer, count);
            receive(peer, count);
        } else {
            receive(peer, count);
            send(peer, count);
        }
        mismatches_ += differences({in_.data(), bytes}, theirs);
    }

    const Group& group_;
    Break fault_;
    Array<std::byte> out_, in_;
    long number_ = 1;
    std::uint64_t mismatches_ = 0;
};

/// All pairs, the first two processes first and the others in an order that a seed gives.
std::vector<Pair> shuffled_pairs(int processes) {
    std::vector<Pair> pairs;
    for (int i = 0; i < processes; ++i)
        for (int j = i + 1; j < processes; ++j) pairs.emplace_back(i, j);
    for (std::size_t i = pairs.size(); i-- > 2;) std::swap(pairs[i], pairs[1 + mixed(i) % i]);
    return pairs;
}

struct Sample {
    Pair pair;
    double latency = 0, bandwidth = 0;  // us, GB/s
};

std::vector<Sample> sample_pairs(Group& group, Exchange& exchange, int repeats, double budget) {
    std::vector<Sample> samples;
    const double start = now();
    for (const Pair& pair : shuffled_pairs(group.size())) {
        if (!samples.empty() && group.from_first(now() - start) > budget) break;
        const double latency = 1e6 * exchange.one_way(group, pair, kShort, repeats);
        const double bandwidth = 1e-9 * kLong / exchange.one_way(group, pair, kLong, repeats);
        samples.push_back({pair, latency, bandwidth});
    }
    return samples;
}

void add_figures(Result& result, const std::vector<Sample>& samples) {
    const auto of = [&](double Sample::*member) {
        struct {
            double least = std::numeric_limits<double>::infinity(), sum = 0, most = 0;
        } spread;
        for (const Sample& sample : samples) {
            spread.least = std::min(spread.least, sample.*member);
            spread.most = std::max(spread.most, sample.*member);
            spread.sum += sample.*member;
        }
        return spread;
    };
    const auto latency = of(&Sample::latency), bandwidth = of(&Sample::bandwidth);
    const auto count = static_cast<double>(samples.size());
    result.figures = {
        {"latency", latency.least, "us", false, 8.0},
        {"latency, average over pairs", latency.sum / count, "us", false},
        {"latency, largest", latency.most, "us", false},
        {"bandwidth", bandwidth.most, "GB/s", true, 2e6},
        {"bandwidth, average over pairs", bandwidth.sum / count, "GB/s", true},
        {"bandwidth, smallest", bandwidth.least, "GB/s", true},
    };
}

void add_matrices(Result& result, const std::vector<Sample>& samples, int processes) {
    if (processes > kShown) return;
    Matrix latency{"one-way latency of 8 B between processes", "us", {}, {}, {}};
    for (int i = 0; i < processes; ++i) latency.rows.push_back(i);
    latency.columns = latency.rows;
    const auto side = static_cast<std::size_t>(processes);
    latency.values.assign(side, std::vector<std::optional<double>>(side));
    Matrix bandwidth = latency;
    bandwidth.name = "bandwidth of 2,000,000 B between processes";
    bandwidth.unit = "GB/s";
    for (const Sample& sample : samples) {
        const auto i = static_cast<std::size_t>(sample.pair.first),
                   j = static_cast<std::size_t>(sample.pair.second);
        latency.values[i][j] = latency.values[j][i] = sample.latency;
        bandwidth.values[i][j] = bandwidth.values[j][i] = sample.bandwidth;
    }
    result.matrices = {std::move(latency), std::move(bandwidth)};
}

/// Which machine each process is on, where they are on several: names in the order of the ranks.
void add_hosts(Result& result, const Group& group) {
    if (group.here() == group.size() || group.size() > kShown) return;
    std::array<char, MPI_MAX_PROCESSOR_NAME + 1> own{};
    int length = 0;
    MPI_Get_processor_name(own.data(), &length);
    std::vector<char> all(own.size() * static_cast<std::size_t>(group.size()));
    const int bytes = static_cast<int>(own.size());
    MPI_Allgather(own.data(), bytes, MPI_CHAR, all.data(), bytes, MPI_CHAR, MPI_COMM_WORLD);
    std::string hosts;
    for (int i = 0; i < group.size(); ++i)
        hosts +=
            fmt::format("{}{}", i == 0 ? "" : " ", all.data() + own.size() * static_cast<std::size_t>(i));
    result.parameter("hosts", hosts);
}

void add_curves(Result& result, Group& group, Exchange& exchange, std::size_t largest, int repeats) {
    Curve time{"one-way time", {"message", "B"}, {"time", "us"}, {}};
    Curve rate{"bandwidth", {"message", "B"}, {"bandwidth", "GB/s"}, {}};
    for (std::size_t bytes = 1; bytes <= largest; bytes *= 2) {
        const double seconds = exchange.one_way(group, {0, 1}, bytes, repeats);
        time.points.emplace_back(bytes, 1e6 * seconds);
        rate.points.emplace_back(bytes, 1e-9 * static_cast<double>(bytes) / seconds);
    }
    result.curves = {std::move(time), std::move(rate)};
}

void declare(Options& options) {
    options.option("--repeats", "COUNT", "30", "timed loops for each pair and size, of which the best counts")
        .option("--budget", "TIME", "500ms", "no further pair is begun after this time")
        .option("--largest", "SIZE", "4MiB", "the longest message of the curves")
        .option("--pages", "KIND", "small", "small or huge: the pages that the messages lie in")
        .example("strata bench pingpong --layout 2x1", "latency and bandwidth between the first two cores");
}

Result run(Group& group, const Parsed& given, Break fault) {
    require_two(group, "pingpong");
    const auto repeats = static_cast<int>(given.integer("--repeats", 1, 10000));
    const double budget = given.seconds("--budget");
    const std::size_t largest = given.size("--largest");
    if (largest < 1 || largest > kMost) {
        throw Error("--largest is out of range").given(given.text("--largest")).allowed("1 B .. 64 MiB");
    }
    const std::string pages = given.choice("--pages", {"small", "huge"});
    Exchange exchange(group, fault, std::max(largest, kLong), pages == "huge" ? Pages::huge : Pages::small);
    Result result;
    result.parameter("pages", pages);
    result.parameter("repeats", std::int64_t{repeats});
    const auto samples = sample_pairs(group, exchange, repeats, budget);
    add_figures(result, samples);
    add_matrices(result, samples, group.size());
    add_hosts(result, group);
    add_curves(result, group, exchange, largest, std::min(repeats, 5));
    result.verification = {"messages and bytes that did not arrive as sent",
                           group.sum(static_cast<double>(exchange.mismatches())), 0, "exact"};
    const int pairs = group.size() * (group.size() - 1) / 2;
    result.notes = {
        "One-way is half of a round trip of MPI_Send and MPI_Recv; each is the mean of a loop of about 1 ms, "
        "the "
        "best loop counts; latency is for 8 B and the nearest pair, bandwidth for 2,000,000 B and the best "
        "pair.",
        fmt::format("{} of {} pairs were sampled{}.", samples.size(), pairs,
                    static_cast<int>(samples.size()) < pairs
                        ? " within --budget, in an order that is always the same"
                        : ""),
        "The curves are those of processes 0 and 1.",
    };
    return result;
}

}  // namespace

const Benchmark pingpong = {"pingpong", "latency and bandwidth of messages between two processes", declare,
                            run};

}  // namespace strata::bench::hpcc
