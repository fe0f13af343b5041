// All processes at once, each to both of its neighbours in a ring: the ring in the order of the ranks, and
// rings in random order (b_eff: Rabenseifner & Koniges 2001; as HPCC reports it, 8 bytes for latency and
// 2,000,000 for bandwidth).
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/clock.hpp"
#include "benchmarks/hpcc/exchange.hpp"
#include "benchmarks/hpcc/hpcc.hpp"

namespace strata::bench::hpcc {
namespace {

constexpr std::size_t kShort = 8, kLong = 2'000'000;
constexpr double kLoopSeconds = 2e-3;
constexpr int kToRight = 0, kToLeft = 1;

/// Where a process stands in a ring.
struct Neighbours {
    int left = 0, right = 0;
};

/// Both ways to exchange with two neighbours; the faster counts.
enum class Variant { all_at_once, one_after_other };

Neighbours natural(int rank, int size) { return {(rank + size - 1) % size, (rank + 1) % size}; }

/// The ring of the given number; the same on each process.
Neighbours random(int rank, int size, int number) {
    std::vector<int> order(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i-- > 1;)
        std::swap(order[i], order[mixed((static_cast<std::uint64_t>(number) << 32) + i) % (i + 1)]);
    const auto place = static_cast<int>(std::find(order.begin(), order.end(), rank) - order.begin());
    const auto at = natural(place, size);
    return {order[static_cast<std::size_t>(at.left)], order[static_cast<std::size_t>(at.right)]};
}

class Exchange {
  public:
    Exchange(Group& group, Break fault) : group_(group), fault_(fault) {}

    /// Seconds per message, the slowest process's: the mean of a loop, the least of `repeats` loops and both
    /// variants.
    double per_message(Neighbours at, std::size_t bytes, int repeats) {
        double best = std::numeric_limits<double>::infinity();
        for (const Variant variant : {Variant::all_at_once, Variant::one_after_other}) {
            loop(at, variant, bytes, 2);
            const long calls = calls_for(kLoopSeconds, loop(at, variant, bytes, 4));
            for (int i = 0; i < repeats; ++i) best = std::min(best, loop(at, variant, bytes, calls));
            whole_contents(at, variant, bytes);
        }
        return best / 2;
    }

    [[nodiscard]] std::uint64_t mismatches() const { return mismatches_; }

  private:
    void exchange(Neighbours at, Variant variant, int bytes) {
        if (fault_ == Break::skip) return;
        if (variant == Variant::all_at_once) {
            std::array<MPI_Request, 4> requests{};
            MPI_Irecv(in_[kToRight].data(), bytes, MPI_BYTE, at.left, kToRight, MPI_COMM_WORLD, &requests[0]);
            MPI_Irecv(in_[kToLeft].data(), bytes, MPI_BYTE, at.right, kToLeft, MPI_COMM_WORLD, &requests[1]);
            MPI_Isend(out_[kToRight].data(), bytes, MPI_BYTE, at.right, kToRight, MPI_COMM_WORLD,
                      &requests[2]);
            MPI_Isend(out_[kToLeft].data(), bytes, MPI_BYTE, at.left, kToLeft, MPI_COMM_WORLD, &requests[3]);
            MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
        } else {
            MPI_Sendrecv(out_[kToRight].data(), bytes, MPI_BYTE, at.right, kToRight, in_[kToRight].data(),
                         bytes, MPI_BYTE, at.left, kToRight, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Sendrecv(out_[kToLeft].data(), bytes, MPI_BYTE, at.left, kToLeft, in_[kToLeft].data(), bytes,
                         MPI_BYTE, at.right, kToLeft, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (fault_ == Break::perturb) in_[kToLeft][0] ^= std::byte{1};
    }

    /// Seconds per exchange, the slowest process's; each message carries its number and its receiver looks at
    /// it.
    double loop(Neighbours at, Variant variant, std::size_t bytes, long calls) {
        const std::uint64_t first = number_;
        number_ += static_cast<std::uint64_t>(calls);
        group_.barrier();
        const double start = now();
        for (std::uint64_t n = first; n < number_; ++n) {
            for (auto& message : out_) stamp({message.data(), bytes}, n);
            exchange(at, variant, static_cast<int>(bytes));
            for (const auto& message : in_) mismatches_ += !stamped({message.data(), bytes}, n);
        }
        return group_.max((now() - start) / static_cast<double>(calls));
    }

    /// What one process sends in one direction.
    static std::uint64_t contents(int rank, std::size_t bytes, int direction) {
        return mixed(bytes) + static_cast<std::uint64_t>(2 * rank + direction);
    }

    /// Outside of all timing every byte is looked at.
    void whole_contents(Neighbours at, Variant variant, std::size_t bytes) {
        for (const int way : {kToRight, kToLeft})
            fill({out_[static_cast<std::size_t>(way)].data(), bytes}, contents(group_.rank(), bytes, way));
        exchange(at, variant, static_cast<int>(bytes));
        mismatches_ += differences({in_[kToRight].data(), bytes}, contents(at.left, bytes, kToRight));
        mismatches_ += differences({in_[kToLeft].data(), bytes}, contents(at.right, bytes, kToLeft));
    }

    Group& group_;
    Break fault_;
    using Messages = std::array<Array<std::byte>, 2>;  // by direction, from the start of a page on
    Messages out_{Array<std::byte>(kLong, Pages::small), Array<std::byte>(kLong, Pages::small)};
    Messages in_{Array<std::byte>(kLong, Pages::small), Array<std::byte>(kLong, Pages::small)};
    std::uint64_t number_ = 1, mismatches_ = 0;
};

struct Times {
    double shorts = 0, longs = 0;
};

Times random_rings(Group& group, Exchange& exchange, int rings, int repeats) {
    Times logarithms;
    for (int ring = 0; ring < rings; ++ring) {
        const Neighbours at = random(group.rank(), group.size(), ring);
        logarithms.shorts += std::log(exchange.per_message(at, kShort, repeats));
        logarithms.longs += std::log(exchange.per_message(at, kLong, repeats));
    }
    return {std::exp(logarithms.shorts / rings), std::exp(logarithms.longs / rings)};
}

void declare(Options& options) {
    options.option("--rings", "COUNT", "10", "random orders of the processes")
        .option("--repeats", "COUNT", "5",
                "timed loops for each ring, variant and size, of which the best counts")
        .example("strata bench rings --layout 2x1", "what messages cost when all processes send at once");
}

Result run(Group& group, const Parsed& given, Break fault) {
    require_two(group, "rings");
    const auto rings = static_cast<int>(given.integer("--rings", 1, 10000));
    const auto repeats = static_cast<int>(given.integer("--repeats", 1, 10000));
    Exchange exchange(group, fault);
    const Neighbours at = natural(group.rank(), group.size());
    // The random rings are a mean over many; one ring alone gets more loops.
    const Times in_order{exchange.per_message(at, kShort, 2 * repeats),
                         exchange.per_message(at, kLong, 2 * repeats)};
    const Times shuffled = random_rings(group, exchange, rings, repeats);
    Result result;
    result.parameter("rings", std::int64_t{rings});
    result.parameter("repeats", std::int64_t{repeats});
    result.figures = {
        {"natural ring latency", 1e6 * in_order.shorts, "us", false, 8.0},
        {"natural ring bandwidth", 1e-9 * kLong / in_order.longs, "GB/s", true, 2e6},
        {"random ring latency", 1e6 * shuffled.shorts, "us", false, 8.0},
        {"random ring bandwidth", 1e-9 * kLong / shuffled.longs, "GB/s", true, 2e6},
    };
    result.verification = {"messages and bytes that did not arrive as sent",
                           group.sum(static_cast<double>(exchange.mismatches())), 0, "exact"};
    result.notes = {
        "Each process sends to both neighbours and receives from both; the time of that, of the slowest "
        "process, is "
        "halved: latency is the time per message sent, bandwidth what each process sends, for 8 B and "
        "2,000,000 B.",
        "Of MPI_Isend with MPI_Irecv to both neighbours at once and of two calls of MPI_Sendrecv the faster "
        "counts.",
        fmt::format("Random rings: the geometric mean over {} orders that are the same in each launch.",
                    rings),
    };
    return result;
}

}  // namespace

const Benchmark rings = {"rings", "latency and bandwidth when all processes send to their neighbours",
                         declare, run};

}  // namespace strata::bench::hpcc
