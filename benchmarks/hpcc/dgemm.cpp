// DGEMM, on one process or on all at once, as HPCC's SingleDGEMM and StarDGEMM: C = alpha A B + beta C.
#include <fmt/format.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "benchmarks/common/blas.hpp"
#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/together.hpp"
#include "benchmarks/hpcc/dgemm.hpp"
#include "benchmarks/hpcc/hpcc.hpp"
#include "core/base/error.hpp"

namespace strata::bench::hpcc {
namespace {

constexpr double kAlpha = 1.25, kBeta = 0.5;

/// A uniform number in [-0.5, 0.5) for an element of a matrix, the same whichever thread makes it (a mix of
/// the index as in SplitMix64, Steele et al. 2014).
double element(std::uint64_t matrix, std::uint64_t index) {
    std::uint64_t z = index + matrix * 0x9e3779b97f4a7c15ULL + 0x632be59bd9b4e019ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    return static_cast<double>(z >> 11) * 0x1.0p-53 - 0.5;
}

/// A thread's part of C: rows x columns of a grid that is as square as the number of threads allows.
struct Tile {
    std::int64_t row, rows, column, columns;
};
Tile tile_of(int thread, int threads, std::int64_t n) {
    int down = static_cast<int>(std::sqrt(static_cast<double>(threads)));
    while (threads % down != 0) --down;
    const int across = threads / down, i = thread / across, j = thread % across;
    const auto cut = [n](int part, int parts) { return n * part / parts; };
    return {cut(i, down), cut(i + 1, down) - cut(i, down), cut(j, across),
            cut(j + 1, across) - cut(j, across)};
}

class Matrices {
  public:
    explicit Matrices(std::int64_t n)
        : n_(n), a_(count()), b_(count()), c_(count()), x_(rows()), y_(rows()), z_(rows()) {
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < n_ * n_; ++i) {
            const auto k = static_cast<std::size_t>(i);
            a_[k] = element(1, k);
            b_[k] = element(2, k);
            c_[k] = element(3, k);
        }
        for (std::size_t i = 0; i < rows(); ++i) x_[i] = element(4, i);
    }

    /// One multiplication: every thread calls BLAS on its tile.
    double multiply(const Blas& blas, Break fault) {
        const double start = now();
        if (fault != Break::skip) {
#ifdef _OPENMP
#pragma omp parallel
            {
                const Tile t = tile_of(omp_get_thread_num(), omp_get_num_threads(), n_);
#else
            {
                const Tile t = tile_of(0, 1, n_);
#endif
                blas.dgemm(t.rows, t.columns, n_, kAlpha, a_.data() + t.row * n_, n_, b_.data() + t.column,
                           n_, kBeta, c_.data() + t.row * n_ + t.column, n_);
            }
        }
        const double elapsed = now() - start;
        if (fault == Break::perturb) c_[count() / 2] *= 1.001;
        return elapsed;
    }

    /// Before the multiplication to be checked: y = alpha A (B x) + beta C x, from plain loops and not from
    /// the BLAS.
    void expect() {
        product(c_, x_, y_);
        Array<double> bx(rows());
        product(b_, x_, bx);
        product(a_, bx, z_);
        for (std::size_t i = 0; i < rows(); ++i) y_[i] = kAlpha * z_[i] + kBeta * y_[i];
    }

    /// After it: |C x - y| over eps n (|alpha| |A| |B| + |beta| |C|) |x|, all in the infinity norm. A random
    /// x sees any wrong element with probability 1 (Freivalds 1977), for O(n^2) work.
    [[nodiscard]] double residual() {
        product(c_, x_, z_);
        double difference = 0, x = 0;
        for (std::size_t i = 0; i < rows(); ++i) {
            difference = std::max(difference, std::fabs(z_[i] - y_[i]));
            x = std::max(x, std::fabs(x_[i]));
        }
        const double scale = kAlpha * norm(a_) * norm(b_) + kBeta * norm(c_);
        return difference / (std::numeric_limits<double>::epsilon() * static_cast<double>(n_) * scale * x);
    }

  private:
    [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(n_); }
    [[nodiscard]] std::size_t count() const { return rows() * rows(); }

    void product(const Array<double>& matrix, const Array<double>& x, Array<double>& y) const {
        const std::size_t n = rows();
#pragma omp parallel for schedule(static)
        for (std::size_t i = 0; i < n; ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < n; ++j) sum += matrix[i * n + j] * x[j];
            y[i] = sum;
        }
    }

    [[nodiscard]] double norm(const Array<double>& matrix) const {
        double largest = 0;
        for (std::size_t i = 0; i < rows(); ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < rows(); ++j) sum += std::fabs(matrix[i * rows() + j]);
            largest = std::max(largest, sum);
        }
        return largest;
    }

    std::int64_t n_;
    Array<double> a_, b_, c_, x_, y_, z_;
};

void declare_dgemm(Options& options) {
    options.option("--n", "N", "2000", "order of the square matrices of each process")
        .option("--repeats", "N", "4", "multiplications; the best counts");
    declare_blas(options);
    options.example("strata bench dgemm --layout 1x2", "two bound threads, one matrix")
        .example("strata bench dgemm --layout 2x1", "two processes at once, a matrix each")
        .example("strata bench dgemm --own-choice",
                 "what a program gets that just links the system's OpenBLAS");
}

std::string name_of(const BlasChoice& choice) {
    return choice.core.empty() ? choice.path : fmt::format("{} with {} kernels", choice.path, choice.core);
}

}  // namespace

void declare_blas(Options& options) {
    options
        .option("--blas", "FILE", "",
                "the BLAS to use; without it the fastest of those found, by a short trial")
        .option("--kernels", "CORE", "",
                "for OpenBLAS: the processor whose kernels it is to use (OPENBLAS_CORETYPE)")
        .flag("--own-choice",
              "take the system's BLAS (without one, Strata's) with its own choice of kernels, without trial");
}

BlasChoice choose_blas(Group& group, const Parsed& given, Result& result) {
    if (given.has("--own-choice")) {
        const BlasChoice system{"libopenblas.so.0", ""};
        try {
            const Blas opens(system);
            return system;
        } catch (const Error&) {  // a machine without one: the first that was found, Strata's own
            return {blas_candidates().front().path, ""};
        }
    }
    if (given.has("--blas")) return {given.text("--blas"), given.text("--kernels")};
    const std::vector<BlasChoice> candidates = blas_candidates();
    std::size_t best = 0;
    if (group.rank() == 0) {
        const std::vector<double> rates = try_candidates(candidates);
        // The first that is within 3 % of the fastest: launches then agree on one library where two are
        // alike.
        const double enough = 0.97 * *std::max_element(rates.begin(), rates.end());
        best = static_cast<std::size_t>(
            std::find_if(rates.begin(), rates.end(), [&](double rate) { return rate >= enough; }) -
            rates.begin());
        for (std::size_t i = 0; i < candidates.size(); ++i)
            if (rates[i] > 0)
                result.notes.push_back(fmt::format("trial at n = 512 on one core: {:.1f} GF/s with {}",
                                                   rates[i], name_of(candidates[i])));
    }
    best = static_cast<std::size_t>(group.from_first(static_cast<double>(best)));
    BlasChoice choice = candidates[best];
    if (given.has("--kernels")) choice.core = given.text("--kernels");
    return choice;
}

double dgemm_rate(Group& group, const Blas& blas, std::int64_t n, int repeats) {
    Matrices matrices(n);
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repeats; ++i)
        best = std::min(best, seconds_together(group, [&] { matrices.multiply(blas, Break::none); }));
    const double order = static_cast<double>(n);
    return 2e-9 * order * order * order * group.size() / best;
}

namespace {

Result run_dgemm(Group& group, const Parsed& given, Break fault) {
    Result result;
    const std::int64_t n = given.integer("--n", 8, 1000000);
    const long repeats = given.integer("--repeats", 1, 100000);
    const double order = static_cast<double>(n);
    require_memory(static_cast<std::uint64_t>(3 * 8 * order * order * group.size()), "DGEMM");
    const Blas blas(choose_blas(group, given, result));
    Matrices matrices(n);
    double best = std::numeric_limits<double>::infinity(), slowest_own = 0, own_best = best;
    for (long i = 0; i < repeats; ++i) {
        if (i + 1 == repeats) matrices.expect();
        double own = 0;
        best = std::min(best, seconds_together(group, [&] { own = matrices.multiply(blas, fault); }));
        own_best = std::min(own_best, own);
    }
    slowest_own = group.max(own_best);
    result.blas = blas.used();
    result.verification = {"scaled residual of C x for a random x", group.max(matrices.residual()), 16.0,
                           "HPCC's threshold for its scaled residuals; Freivalds 1977"};
    result.parameter("n", n);
    result.parameter("repeats", static_cast<std::int64_t>(repeats));
    const double flops = 2.0 * order * order * order;
    const double bytes =
        4.0 * 8.0 * order * order;  // A, B and C read once, C written: the least that can move
    result.figures.push_back({"dgemm", flops * group.size() / best * 1e-9, "GF/s", true, bytes * group.size(),
                              flops * group.size()});
    if (group.size() > 1) {
        result.figures.push_back({"slowest process", flops / slowest_own * 1e-9, "GF/s", true, {}, {}});
        result.figures.push_back(
            {"fastest process", flops / group.min(own_best) * 1e-9, "GF/s", true, {}, {}});
    }
    if (thread_count() > 1) result.notes.emplace_back("each thread calls the BLAS on its own tile of C");
    return result;
}

}  // namespace

const Benchmark dgemm = {"dgemm", "dense matrix multiplication with the fastest BLAS found", declare_dgemm,
                         run_dgemm};

}  // namespace strata::bench::hpcc
