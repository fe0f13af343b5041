// The two collective operations on which most others lean: a sum known to all (MPI_Allreduce), and
// everybody's block for everybody (MPI_Alltoall), over the size of the message.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
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

constexpr double kLoopSeconds = 2e-3;

/// One collective operation on `bytes` of a message, with contents of which the outcome is known exactly.
class Operation {
  public:
    virtual ~Operation() = default;
    /// New contents, of which the outcome differs from that of any other number.
    virtual void prepare(std::size_t bytes, std::uint64_t number) = 0;
    virtual void call(std::size_t bytes) = 0;
    [[nodiscard]] virtual std::uint64_t mismatches(std::size_t bytes, std::uint64_t number) const = 0;
};

/// Sums of small whole numbers: exact in doubles whatever the order in which MPI adds them.
class Allreduce : public Operation {
  public:
    Allreduce(const Group& group, std::size_t largest, Break fault)
        : rank_(group.rank()),
          size_(group.size()),
          fault_(fault),
          in_(largest / sizeof(double)),
          out_(in_.size()) {}

    void prepare(std::size_t bytes, std::uint64_t number) override {
        for (std::size_t i = 0; i < bytes / sizeof(double); ++i) in_[i] = rank_ + own(i, number);
    }
    void call(std::size_t bytes) override {
        const auto count = static_cast<int>(bytes / sizeof(double));
        if (fault_ != Break::skip)
            MPI_Allreduce(in_.data(), out_.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (fault_ == Break::perturb) out_[0] += 1;
    }
    [[nodiscard]] std::uint64_t mismatches(std::size_t bytes, std::uint64_t number) const override {
        const double ranks = 0.5 * size_ * (size_ - 1);
        std::uint64_t wrong = 0;
        for (std::size_t i = 0; i < bytes / sizeof(double); ++i)
            wrong += !(out_[i] == ranks + size_ * own(i, number));
        return wrong;
    }

  private:
    static double own(std::size_t i, std::uint64_t number) {
        return 1 + static_cast<double>(mixed(number + i) >> 44);
    }
    int rank_, size_;
    Break fault_;
    std::vector<double> in_, out_;
};

/// The block of one process among all.
template <class Bytes>
auto block(Bytes& all, int index, std::size_t bytes) {
    return std::span(all).subspan(static_cast<std::size_t>(index) * bytes, bytes);
}

class Alltoall : public Operation {
  public:
    Alltoall(const Group& group, std::size_t largest, Break fault)
        : rank_(group.rank()),
          size_(group.size()),
          fault_(fault),
          in_(largest * static_cast<std::size_t>(size_)),
          out_(in_.size()) {}

    void prepare(std::size_t bytes, std::uint64_t number) override {
        for (int to = 0; to < size_; ++to) fill(block(in_, to, bytes), contents(rank_, to, number));
    }
    void call(std::size_t bytes) override {
        const auto count = static_cast<int>(bytes);
        if (fault_ != Break::skip)
            MPI_Alltoall(in_.data(), count, MPI_BYTE, out_.data(), count, MPI_BYTE, MPI_COMM_WORLD);
        if (fault_ == Break::perturb) out_[0] ^= std::byte{1};
    }
    [[nodiscard]] std::uint64_t mismatches(std::size_t bytes, std::uint64_t number) const override {
        std::uint64_t wrong = 0;
        for (int from = 0; from < size_; ++from)
            wrong += differences(block(out_, from, bytes), contents(from, rank_, number));
        return wrong;
    }

  private:
    [[nodiscard]] std::uint64_t contents(int from, int to, std::uint64_t number) const {
        return mixed(number) + mixed(static_cast<std::uint64_t>(from) * static_cast<std::uint64_t>(size_) +
                                     static_cast<std::uint64_t>(to));
    }
    int rank_, size_;
    Break fault_;
    std::vector<std::byte> in_, out_;
};

struct Sizes {
    std::size_t largest = 0;
    int repeats = 0;
};

struct Measured {
    Curve time{"time", {"message", "B"}, {"time", "us"}, {}};
    std::uint64_t mismatches = 0;
};

/// Seconds per call, the slowest process's mean over a loop.
double loop(Group& group, Operation& operation, std::size_t bytes, long calls) {
    group.barrier();
    const double start = now();
    for (long i = 0; i < calls; ++i) operation.call(bytes);
    return group.max((now() - start) / static_cast<double>(calls));
}

Measured measure(Group& group, Operation& operation, const Sizes& sizes) {
    Measured measured;
    std::uint64_t number = 0;
    for (std::size_t bytes = 8; bytes <= sizes.largest; bytes *= 2) {
        operation.prepare(bytes, ++number);
        loop(group, operation, bytes, 2);
        const long calls = calls_for(kLoopSeconds, loop(group, operation, bytes, 4));
        double best = std::numeric_limits<double>::infinity();
        for (int i = 0; i < sizes.repeats; ++i) {
            operation.prepare(bytes, ++number);
            best = std::min(best, loop(group, operation, bytes, calls));
            measured.mismatches += operation.mismatches(bytes, number);
        }
        measured.time.points.emplace_back(bytes, 1e6 * best);
    }
    return measured;
}

Sizes sizes_of(const Parsed& given, const Group& group, std::size_t copies, const char* what) {
    Sizes sizes{given.size("--largest"), static_cast<int>(given.integer("--repeats", 1, 10000))};
    if (sizes.largest < 8 || sizes.largest > (std::size_t{1} << 30)) {
        throw Error("--largest is out of range").given(given.text("--largest")).allowed("8 B .. 1 GiB");
    }
    // All processes of a launch may share one memory.
    require_memory(2 * copies * sizes.largest * static_cast<std::size_t>(group.size()), what);
    return sizes;
}

Result result_of(Group& group, Measured measured, const Sizes& sizes, const char* wrong) {
    Result result;
    result.parameter("largest", static_cast<std::int64_t>(measured.time.points.back().first));
    result.parameter("repeats", std::int64_t{sizes.repeats});
    result.figures = {{"8 B", measured.time.points.front().second, "us", false, 8.0}};
    result.verification = {wrong, group.sum(static_cast<double>(measured.mismatches)), 0, "exact"};
    result.curves = {std::move(measured.time)};
    return result;
}

Result run_allreduce(Group& group, const Parsed& given, Break fault) {
    const Sizes sizes = sizes_of(given, group, 1, "allreduce");
    Allreduce operation(group, sizes.largest, fault);
    Result result =
        result_of(group, measure(group, operation, sizes), sizes, "sums that differ from the exact ones");
    result.notes = {
        "The sum of doubles; the time is the mean per call of a loop of about 2 ms, the slowest process's, "
        "and the best "
        "loop counts."};
    return result;
}

Result run_alltoall(Group& group, const Parsed& given, Break fault) {
    const auto processes = static_cast<std::size_t>(group.size());
    const Sizes sizes = sizes_of(given, group, processes, "alltoall");
    Alltoall operation(group, sizes.largest, fault);
    Result result = result_of(group, measure(group, operation, sizes), sizes,
                              "bytes that did not arrive as they were sent");
    const auto [bytes, us] = result.curves.front().points.back();
    if (processes > 1) {
        const double moved = bytes * static_cast<double>(processes * (processes - 1));
        result.figures.push_back({"aggregate bandwidth", 1e-3 * moved / us, "GB/s", true, moved});
    }
    result.notes = {
        "The message is one block, from one process to one other; the time is the mean per call of a loop of "
        "about 2 ms, "
        "the slowest process's, and the best loop counts.",
        "Aggregate bandwidth is what all processes send to others than themselves, with the largest blocks.",
    };
    return result;
}

template <int Largest>
void declare(Options& options) {
    options.option("--largest", "SIZE", fmt::format("{}MiB", Largest), "the longest message of the curve")
        .option("--repeats", "COUNT", "5", "timed loops for each size, of which the best counts");
}

}  // namespace

const Benchmark allreduce = {"allreduce", "time of a sum over all processes, against its size", declare<4>,
                             run_allreduce};
const Benchmark alltoall = {"alltoall", "time of an exchange of all with all, against its size", declare<1>,
                            run_alltoall};

}  // namespace strata::bench::hpcc
