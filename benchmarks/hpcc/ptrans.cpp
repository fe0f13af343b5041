// C <- beta C + A^T for square matrices dealt in blocks over a grid of processes: each process exchanges a
// part of its block with others at once, so that the machine's whole capacity between processes is seen
// (Luszczek et al. 2005).
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
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

constexpr double kBeta = 1.0, kResidualLimit = 16.0;
/// Two tiles of doubles fit in the first cache, and their rows are whole cache lines.
constexpr long kTile = 16;

struct Range {
    long first = 0, last = 0;
    [[nodiscard]] long size() const { return std::max(0L, last - first); }
};

Range common(Range a, Range b) { return {std::max(a.first, b.first), std::min(a.last, b.last)}; }

/// Part `index` of `parts` of 0..n; the parts differ by at most one.
Range part(long n, int parts, int index) { return {n * index / parts, n * (index + 1) / parts}; }

/// The processes as a grid as near to a square as their number allows.
struct Grid {
    long n;
    int rows, columns;

    static Grid of(long n, int processes) {
        int rows = static_cast<int>(std::sqrt(static_cast<double>(processes)));
        while (processes % rows != 0) --rows;
        return {n, rows, processes / rows};
    }
    [[nodiscard]] Range rows_of(int rank) const { return part(n, rows, rank / columns); }
    [[nodiscard]] Range columns_of(int rank) const { return part(n, columns, rank % columns); }
};

/// A rectangle of A in the block of one process, to be added transposed to the block of another.
struct Piece {
    Range rows, columns;
    [[nodiscard]] long size() const { return rows.size() * columns.size(); }
};

/// What `from` holds of the transpose of the block of `to`.
Piece piece(const Grid& grid, int from, int to) {
    return {common(grid.rows_of(from), grid.columns_of(to)), common(grid.columns_of(from), grid.rows_of(to))};
}

/// to[j][i] = from[i][j] + scale to[j][i], by tiles so that neither side is read line by line for one element
/// each.
template <bool Add>
void transpose(const double* from, long from_stride, double* to, long to_stride, long rows, long columns) {
#pragma omp parallel for schedule(static)
    for (long j0 = 0; j0 < columns; j0 += kTile) {
        const long j1 = std::min(j0 + kTile, columns);
        for (long i0 = 0; i0 < rows; i0 += kTile) {
            const long i1 = std::min(i0 + kTile, rows);
            for (long j = j0; j < j1; ++j) {
                double* const row = to + j * to_stride;
                for (long i = i0; i < i1; ++i) {
                    const double value = from[i * from_stride + j];
                    row[i] = Add ? kBeta * row[i] + value : value;
                }
            }
        }
    }
}

/// One process's blocks of A and C, and the messages.
class Blocks {
  public:
    Blocks(const Grid& grid, int rank, int size)
        : grid_(grid),
          rank_(rank),
          size_(size),
          rows_(grid.rows_of(rank)),
          columns_(grid.columns_of(rank)),
          a_(elements()),
          c_(elements()),
          out_(size > 1 ? elements() : 0),
          in_(size > 1 ? elements() : 0) {}

    /// Elements that follow from their place alone, so that each process knows what any other holds.
    void set() {
        for_each([&](double& a, double& c, long i, long j) {
            a = element(i, j);
            c = element(j, i + grid_.n);
        });
    }

    void add_transpose() {
        std::vector<MPI_Request> requests;
        std::vector<long> at_in(static_cast<std::size_t>(size_), 0);
        requests.reserve(2 * static_cast<std::size_t>(size_));
        long place = 0;
        for (int from = 0; from < size_; ++from) {
            const long count = piece(grid_, from, rank_).size();
            at_in[static_cast<std::size_t>(from)] = place;
            if (from == rank_ || count == 0) continue;
            MPI_Irecv(in_.data() + place, static_cast<int>(count), MPI_DOUBLE, from, 0, MPI_COMM_WORLD,
                      &requests.emplace_back());
            place += count;
        }
        const std::size_t receives = requests.size();
        send_all(requests);
        add_own();
        for (std::size_t done = 0; done < receives; ++done) {
            int index = 0;
            MPI_Status status{};
            MPI_Waitany(static_cast<int>(receives), requests.data(), &index, &status);
            add(status.MPI_SOURCE, in_.data() + at_in[static_cast<std::size_t>(status.MPI_SOURCE)]);
        }
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }

    void perturb() { c_[0] += 1e-6; }

    /// The largest distance of an element of C from what it should be.
    [[nodiscard]] double error() {
        double worst = 0;
        for_each([&](const double&, const double& c, long i, long j) {
            const double exact = kBeta * element(j, i + grid_.n) + element(j, i);
            const double distance = std::abs(c - exact);
            // What is not a number is as wrong as can be; max() would drop it.
            worst =
                std::isnan(distance) ? std::numeric_limits<double>::infinity() : std::max(worst, distance);
        });
        return worst;
    }

  private:
    [[nodiscard]] std::size_t elements() const {
        return static_cast<std::size_t>(rows_.size() * columns_.size());
    }

    [[nodiscard]] double element(long i, long j) const {
        return uniform(static_cast<std::uint64_t>(i) * (std::uint64_t{2} << 32) +
                       static_cast<std::uint64_t>(j));
    }

    template <class F>
    void for_each(F&& f) {
        for (long i = rows_.first; i < rows_.last; ++i)
            for (long j = columns_.first; j < columns_.last; ++j) {
                const auto at =
                    static_cast<std::size_t>((i - rows_.first) * columns_.size() + j - columns_.first);
                f(a_[at], c_[at], i, j);
            }
    }

    [[nodiscard]] const double* a_at(long i, long j) const {
        return a_.data() + (i - rows_.first) * columns_.size() + j - columns_.first;
    }
    [[nodiscard]] double* c_at(long i, long j) const {
        return c_.data() + (i - rows_.first) * columns_.size() + j - columns_.first;
    }

    /// Each piece is transposed as it is packed; the receiver then adds whole rows.
    void send_all(std::vector<MPI_Request>& requests) {
        double* place = out_.data();
        // Each begins with its next neighbour, so that not all send to the first process at once.
        for (int step = 1; step < size_; ++step) {
            const int to = (rank_ + step) % size_;
            const Piece p = piece(grid_, rank_, to);
            if (p.size() == 0) continue;
            transpose<false>(a_at(p.rows.first, p.columns.first), columns_.size(), place, p.rows.size(),
                             p.rows.size(), p.columns.size());
            MPI_Isend(place, static_cast<int>(p.size()), MPI_DOUBLE, to, 0, MPI_COMM_WORLD,
                      &requests.emplace_back());
            place += p.size();
        }
    }

    void add_own() {
        const Piece p = piece(grid_, rank_, rank_);
        if (p.size() == 0) return;
        transpose<true>(a_at(p.rows.first, p.columns.first), columns_.size(),
                        c_at(p.columns.first, p.rows.first), columns_.size(), p.rows.size(),
                        p.columns.size());
    }

    void add(int from, const double* transposed) {
        const Piece p = piece(grid_, from, rank_);
        const long width = p.rows.size();
#pragma omp parallel for schedule(static)
        for (long j = p.columns.first; j < p.columns.last; ++j) {
            double* const row = c_at(j, p.rows.first);
            const double* const more = transposed + (j - p.columns.first) * width;
            for (long i = 0; i < width; ++i) row[i] = kBeta * row[i] + more[i];
        }
    }

    Grid grid_;
    int rank_, size_;
    Range rows_, columns_;
    Array<double> a_, c_, out_, in_;
};

void declare(Options& options) {
    options.option("--n", "COUNT", "", "rows and columns of the matrix")
        .option("--memory", "SIZE", "96MiB", "memory per process, from which the matrix follows without --n")
        .option("--repeats", "COUNT", "5", "repetitions, of which the best counts")
        .example("strata bench ptrans --layout 4x1", "a matrix transposed over four processes");
}

/// Each process holds a quarter of its memory of A, and as much of C, of what it sends and of what it
/// receives.
long side(const Parsed& given, int processes) {
    constexpr long kMost = 1'000'000;
    if (given.has("--n")) return given.integer("--n", 1, kMost);
    const double elements = static_cast<double>(given.size("--memory")) / 32 * processes;
    return std::clamp(static_cast<long>(std::sqrt(elements)), 1L, kMost);
}

Result run(Group& group, const Parsed& given, Break fault) {
    const long n = side(given, group.size());
    const auto repeats = static_cast<int>(given.integer("--repeats", 1, 10000));
    const Grid grid = Grid::of(n, group.size());
    const double block =
        std::ceil(static_cast<double>(n) / grid.rows) * std::ceil(static_cast<double>(n) / grid.columns);
    if (block > std::numeric_limits<int>::max()) {
        throw Error("the block of one process is too large for one message")
            .given(fmt::format("{:.0f} elements", block))
            .allowed(fmt::format("{} elements", std::numeric_limits<int>::max()))
            .remedy("a smaller --n or --memory, or more processes");
    }
    const double bytes = 8 * static_cast<double>(n) * static_cast<double>(n);
    require_memory(static_cast<std::uint64_t>(4 * bytes), "ptrans");
    Blocks blocks(grid, group.rank(), group.size());
    double best = std::numeric_limits<double>::infinity(), error = 0;
    for (int repeat = -1; repeat < repeats; ++repeat) {
        blocks.set();
        group.barrier();
        const double start = now();
        if (fault != Break::skip) blocks.add_transpose();
        const double seconds = group.max(now() - start);
        if (fault == Break::perturb) blocks.perturb();
        error = std::max(error, group.max(blocks.error()));
        if (repeat >= 0) best = std::min(best, seconds);
    }
    Result result;
    result.parameter("n", std::int64_t{n});
    result.parameter("grid", fmt::format("{}x{}", grid.rows, grid.columns));
    result.parameter("repeats", std::int64_t{repeats});
    result.figures = {{"ptrans", 1e-9 * bytes / best, "GB/s", true, bytes}};
    // The elements are below 1/2, so that those of the sum are below 1.
    result.verification = {"max |C - exact| / (eps max |C|)", error / std::numeric_limits<double>::epsilon(),
                           kResidualLimit, "HPC Challenge: residual below 16"};
    result.notes = {
        "C <- C + A^T; bandwidth is the size of the matrix, 8 n^2 bytes, over the time of the slowest "
        "process, and the "
        "best repetition counts; local transposition, messages and additions are all within the time."};
    return result;
}

}  // namespace

const Benchmark ptrans = {"ptrans", "a matrix transposed and added over all processes", declare, run};

}  // namespace strata::bench::hpcc
