// One Fourier transform of a long vector over all processes, by the six steps of Bailey (FFTs in external or
// hierarchical memory, 1990): the vector is seen as a matrix whose rows fit one process, so that all
// communication is in three transpositions.
#include <fftw3.h>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/clock.hpp"
#include "benchmarks/hpcc/exchange.hpp"
#include "benchmarks/hpcc/hpcc.hpp"
#include "core/base/error.hpp"

namespace strata::bench::hpcc {
namespace {

using Complex = std::complex<double>;

constexpr double kResidualLimit = 16.0;
constexpr long kTile = 8;  // a row of a tile is two cache lines

/// N = n1 n2 points, both factors multiples of the number of processes.
struct Shape {
    long n1 = 0, n2 = 0;
    [[nodiscard]] long points() const { return n1 * n2; }

    /// The largest with both factors P 2^k, as near to each other as may be, that has at most `most` points.
    static Shape within(double most, int processes) {
        Shape shape{processes, processes};
        for (bool first = true; 2.0 * static_cast<double>(shape.points()) <= most; first = !first)
            (first ? shape.n1 : shape.n2) *= 2;
        return shape;
    }
};

/// e^(-2 pi i m / n) for whole m below n, correct to rounding: the product of two entries of short tables.
class Roots {
  public:
    explicit Roots(long n) : step_(static_cast<long>(std::ceil(std::sqrt(static_cast<double>(n))))) {
        for (long m = 0; m < step_; ++m) {
            fine_.push_back(exact(m, n));
            coarse_.push_back(exact(m * step_, n));
        }
    }
    [[nodiscard]] Complex operator()(long m) const {
        return times(coarse_[static_cast<std::size_t>(m / step_)],
                     fine_[static_cast<std::size_t>(m % step_)]);
    }
    /// The product without the care for infinities that the operator takes, and that costs a branch.
    static Complex times(Complex a, Complex b) {
        return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    }

  private:
    static Complex exact(long m, long n) {
        const long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(m % n) /
                                  static_cast<long double>(n);
        return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
    }
    long step_;
    std::vector<Complex> fine_, coarse_;
};

/// FFTW's transform of one row in place, forward or backward.
class RowTransform {
  public:
    RowTransform(long length, int sign, Complex* scratch)
        : plan_(
              fftw_plan_dft_1d(static_cast<int>(length), fftw(scratch), fftw(scratch), sign, FFTW_MEASURE)) {
        if (plan_ == nullptr)
            throw Error("FFTW has no plan", kFailure).given(fmt::format("{} points", length));
    }
    ~RowTransform() { fftw_destroy_plan(plan_); }
    RowTransform(const RowTransform&) = delete;
    RowTransform& operator=(const RowTransform&) = delete;
    void operator()(Complex* row) const { fftw_execute_dft(plan_, fftw(row), fftw(row)); }

  private:
    static fftw_complex* fftw(Complex* row) { return reinterpret_cast<fftw_complex*>(row); }
    fftw_plan plan_;
};

/// The rows of this process of a matrix that is dealt over all processes by rows, and their transposition.
class Transposition {
  public:
    explicit Transposition(int processes) : processes_(processes) {}

    /// `from` holds this process's rows of a rows x columns matrix, `to` then those of its transpose; `from`
    /// is overwritten.
    void operator()(Complex* from, Complex* to, long rows, long columns) const {
        const long my_rows = rows / processes_, my_columns = columns / processes_;
        if (processes_ == 1) {
            transpose(from, columns, to, rows, rows, columns);
            return;
        }
        const long block = my_rows * my_columns;
        for (int p = 0; p < processes_; ++p)
            transpose(from + p * my_columns, columns, to + p * block, my_rows, my_rows, my_columns);
        const auto count = static_cast<int>(block);
        MPI_Alltoall(to, count, MPI_C_DOUBLE_COMPLEX, from, count, MPI_C_DOUBLE_COMPLEX, MPI_COMM_WORLD);
#pragma omp parallel for schedule(static)
        for (long j = 0; j < my_columns; ++j)
            for (int p = 0; p < processes_; ++p)
                std::copy_n(from + p * block + j * my_rows, my_rows, to + j * rows + p * my_rows);
    }

  private:
    static void transpose(const Complex* from, long from_stride, Complex* to, long to_stride, long rows,
                          long columns) {
#pragma omp parallel for schedule(static)
        for (long j0 = 0; j0 < columns; j0 += kTile) {
            const long j1 = std::min(j0 + kTile, columns);
            for (long i0 = 0; i0 < rows; i0 += kTile) {
                const long i1 = std::min(i0 + kTile, rows);
                for (long j = j0; j < j1; ++j)
                    for (long i = i0; i < i1; ++i) to[j * to_stride + i] = from[i * from_stride + j];
            }
        }
    }
    int processes_;
};

/// X[k1 + n1 k2] = sum_j2 w_n2^(j2 k2) w_N^(j2 k1) sum_j1 w_n1^(j1 k1) x[j1 n2 + j2].
class Transform {
  public:
    Transform(const Shape& shape, Group& group, int sign, const Roots& roots, Complex* scratch)
        : shape_(shape),
          sign_(sign),
          rank_(group.rank()),
          processes_(group.size()),
          transposition_(processes_),
          roots_(roots),
          columns_(shape.n1, sign, scratch),
          rows_(shape.n2, sign, scratch) {}

    /// In and out in natural order, each process its consecutive part; both arrays are overwritten.
    void operator()(Complex* in, Complex* out) const {
        const long my_n1 = shape_.n1 / processes_, my_n2 = shape_.n2 / processes_;
        transposition_(in, out, shape_.n1, shape_.n2);
#pragma omp parallel for schedule(static)
        for (long j2 = 0; j2 < my_n2; ++j2) {
            Complex* const row = out + j2 * shape_.n1;
            columns_(row);
            twiddle(row, rank_ * my_n2 + j2);
        }
        transposition_(out, in, shape_.n2, shape_.n1);
#pragma omp parallel for schedule(static)
        for (long k1 = 0; k1 < my_n1; ++k1) rows_(in + k1 * shape_.n2);
        transposition_(in, out, shape_.n1, shape_.n2);
    }

  private:
    /// Multiplies element k1 of a row by w_N^(j2 k1): a table of `kSpan` powers, advanced span by span.
    void twiddle(Complex* row, long j2) const {
        constexpr long kSpan = 64;
        std::array<Complex, kSpan> powers;
        const long span = std::min(kSpan, shape_.n1);
        for (long k = 0; k < span; ++k) powers[static_cast<std::size_t>(k)] = root(j2 * k);
        for (long k0 = 0; k0 < shape_.n1; k0 += span) {
            const Complex start = root(j2 * k0);
            const long count = std::min(span, shape_.n1 - k0);
            for (long k = 0; k < count; ++k)
                row[k0 + k] =
                    Roots::times(row[k0 + k], Roots::times(start, powers[static_cast<std::size_t>(k)]));
        }
    }
    [[nodiscard]] Complex root(long m) const {
        return sign_ == FFTW_FORWARD ? roots_(m) : std::conj(roots_(m));
    }

    Shape shape_;
    int sign_, rank_;
    int processes_;
    Transposition transposition_;
    const Roots& roots_;
    RowTransform columns_, rows_;
};

/// The input: each part uniform in [-1/2, 1/2), by its place alone.
Complex point(long j) {
    const auto word = 2 * static_cast<std::uint64_t>(j);
    return {uniform(word), uniform(word + 1)};
}

/// One process's consecutive part of a vector.
struct Part {
    long first, size;
};

void set(Complex* x, Part part) {
#pragma omp parallel for schedule(static)
    for (long j = 0; j < part.size; ++j) x[j] = point(part.first + j);
}

double infinite_if_nan(double value) {
    return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

/// The largest distance between the output and the sum that defines it, at a few frequencies, over the root
/// mean square of the output.
double distance_from_definition(Group& group, const Complex* output, Part part, long points,
                                const Roots& roots) {
    constexpr int kFrequencies = 4;
    constexpr long kBlock = 1024;
    double worst = 0;
    for (int f = 0; f < kFrequencies; ++f) {
        const auto k =
            static_cast<long>(mixed(static_cast<std::uint64_t>(f) + 1) % static_cast<std::uint64_t>(points));
        // Sums of blocks, of which the rounding stays small, and then their sum.
        Complex sum;
        for (long j0 = 0; j0 < part.size; j0 += kBlock) {
            Complex block;
            const long end = std::min(j0 + kBlock, part.size);
            for (long j = j0; j < end; ++j) {
                const auto phase = static_cast<long>(static_cast<unsigned __int128>(part.first + j) *
                                                     static_cast<unsigned __int128>(k) %
                                                     static_cast<unsigned __int128>(points));
                block += Roots::times(point(part.first + j), roots(phase));
            }
            sum += block;
        }
        const Complex direct{group.sum(sum.real()), group.sum(sum.imag())};
        const bool mine = k >= part.first && k < part.first + part.size;
        const double distance = mine ? std::abs(output[k - part.first] - direct) : 0;
        worst = std::max(worst, group.max(infinite_if_nan(distance)));
    }
    // Each part of an input has the variance 1/12.
    return worst / std::sqrt(static_cast<double>(points) / 6);
}

/// The largest distance between the input and what forward and backward made of it.
double distance_from_input(Group& group, const Complex* x, Part part, long points) {
    double worst = 0;
    for (long j = 0; j < part.size; ++j)
        worst = std::max(
            worst, infinite_if_nan(std::abs(x[j] / static_cast<double>(points) - point(part.first + j))));
    return group.max(worst);
}

void declare(Options& options) {
    options.option("--n", "COUNT", "", "points at most; the number taken is P^2 2^k for P processes")
        .option("--memory", "SIZE", "32MiB",
                "memory per process, from which the number of points follows without --n")
        .option("--repeats", "COUNT", "5", "repetitions, of which the best counts")
        .example("strata bench mpifft --layout 2x1", "one transform over two processes");
}

Shape shape_of(const Parsed& given, int processes) {
    constexpr long kMost = 1L << 40;
    // Two arrays of 16 bytes a point.
    const double most = given.has("--n") ? static_cast<double>(given.integer("--n", 1, kMost))
                                         : static_cast<double>(given.size("--memory")) / 32 * processes;
    const double least = static_cast<double>(processes) * processes;
    if (most < least) {
        throw Error("too few points for so many processes")
            .given(fmt::format("{:.0f}", most))
            .allowed(fmt::format("{:.0f} or more", least));
    }
    const Shape shape = Shape::within(most, processes);
    if (shape.points() / processes / processes > std::numeric_limits<int>::max()) {
        throw Error("the block between two processes is too large for one message")
            .given(fmt::format("{} points", shape.points()))
            .remedy("a smaller --n or --memory, or more processes");
    }
    return shape;
}

Result run(Group& group, const Parsed& given, Break fault) {
    const Shape shape = shape_of(given, group.size());
    const auto repeats = static_cast<int>(given.integer("--repeats", 1, 10000));
    const long n = shape.points();
    require_memory(static_cast<std::uint64_t>(32 * n), "mpifft");
    const Part part{group.rank() * (n / group.size()), n / group.size()};
    Array<Complex> x(static_cast<std::size_t>(part.size)), spectrum(static_cast<std::size_t>(part.size));
    const Roots roots(n);
    // Planning tries variants on the array that it is given.
    const Transform forward(shape, group, FFTW_FORWARD, roots, x.data());
    const Transform backward(shape, group, FFTW_BACKWARD, roots, x.data());
    double best = std::numeric_limits<double>::infinity();
    for (int repeat = -1; repeat < repeats; ++repeat) {
        set(x.data(), part);
        group.barrier();
        const double start = now();
        if (fault != Break::skip) forward(x.data(), spectrum.data());
        const double seconds = group.max(now() - start);
        if (repeat >= 0) best = std::min(best, seconds);
    }
    if (fault == Break::perturb) spectrum[0] += 1e-3;
    const double direct = distance_from_definition(group, spectrum.data(), part, n, roots);
    if (fault != Break::skip) backward(spectrum.data(), x.data());
    const double round_trip = distance_from_input(group, x.data(), part, n);
    const double levels = std::max(1.0, std::log2(static_cast<double>(n)));

    Result result;
    result.parameter("n", std::int64_t{n});
    result.parameter("factors", fmt::format("{}x{}", shape.n1, shape.n2));
    result.parameter("repeats", std::int64_t{repeats});
    const double flops = 5 * static_cast<double>(n) * levels;
    // For the roofline: each point is read and written at least once.
    result.figures = {{"mpifft", 1e-9 * flops / best, "GF/s", true, 32.0 * static_cast<double>(n), flops}};
    result.verification = {
        "error of backward(forward(x)), and of forward(x) against the definition / (eps log2 N)",
        std::max(direct, round_trip) / std::numeric_limits<double>::epsilon() / levels, kResidualLimit,
        "HPC Challenge: residual below 16"};
    result.notes = {
        "Operations are counted as 5 N log2 N; the time is that of the slowest process, and the best "
        "repetition counts.",
        fmt::format("Six steps with {} within each process; against the definition at 4 frequencies.",
                    fftw_version)};
    return result;
}

}  // namespace

const Benchmark mpifft = {"mpifft", "one Fourier transform over all processes", declare, run};

}  // namespace strata::bench::hpcc
