#include "benchmarks/npb/cg/cg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/npb/cg/division.hpp"
#include "benchmarks/npb/cg/matrix.hpp"
#include "benchmarks/npb/cg/multiply.hpp"

namespace strata::npb::cg {
namespace {

constexpr Problem kProblems[] = {
    {1400, 7, 15, 10, 8.5971775078648},         // S
    {7000, 8, 15, 12, 10.362595087124},         // W
    {14000, 11, 15, 20, 17.130235054029},       // A
    {75000, 13, 75, 60, 22.712745482631},       // B
    {150000, 15, 75, 110, 28.973605592845},     // C
    {1500000, 21, 100, 500, 52.514532105794},   // D
    {9000000, 26, 100, 1500, 77.522164599383},  // E
    {54000000, 31, 100, 5000, 107.3070826433},  // F
};
constexpr double kLimit = 1e-10;
constexpr int kSteps = 25;  // of conjugate gradients in one iteration

/// The vectors of section 2.2.3, by this process's part of the columns; `w` is A p by its part of the rows.
class Solver {
  public:
    Solver(const Problem& problem, Group& group, Break fault)
        : group_(group),
          fault_(fault),
          division_(problem.n, group.rank(), group.size()),
          matrix_(make_matrix(problem, division_.block(), group)) {
        const auto columns = static_cast<std::size_t>(division_.block().columns());
        for (const auto& [name, vector] :
             {std::pair{"x", &x_}, {"z", &z_}, {"p", &p_}, {"q", &q_}, {"r", &r_}})
            *vector = group.array<double>(name, columns);
        w_ = group.size() == 1 ? q_
                               : group.array<double>("w", static_cast<std::size_t>(division_.block().rows()));
        fetch_.resize(static_cast<std::size_t>(group.workers()));
        start();
        group.each(
            [&](int worker, int) { fetch_[worker] = faster_fetch(matrix_, x_.data(), w_.data(), worker); });
    }

    /// x = (1, 1, ..., 1).
    void start() {
        each([&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) x_[i] = 1;
        });
    }

    /// Solves A z = x; returns |x - A z|.
    double solve() {
        each([&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                z_[i] = 0;
                r_[i] = p_[i] = x_[i];
            }
        });
        double rho = dot(r_, r_);
        for (int step = 0; step < kSteps; ++step) {
            const double alpha = rho / multiply_and_dot();
            const double before = rho;
            rho = advance(alpha);
            const double beta = rho / before;
            each([&](std::int64_t begin, std::int64_t end) {
#pragma omp simd
                for (std::int64_t i = begin; i < end; ++i) p_[i] = r_[i] + beta * p_[i];
            });
        }
        apply(z_);
        return std::sqrt(sum_own<1>([&](std::int64_t i) {
            const double difference = x_[i] - q_[i];
            return std::array{difference * difference};
        })[0]);
    }

    /// 1 / (x . z), and x = z / |z|.
    double normalise() {
        const auto [xz, zz] = sum_own<2>([&](std::int64_t i) {
            return std::array{x_[i] * z_[i], z_[i] * z_[i]};
        });
        const double scale = 1 / std::sqrt(zz);
        each([&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) x_[i] = scale * z_[i];
        });
        return 1 / xz;
    }

    /// Of one solve() and normalise(), over all processes. A step reads and writes z and r, reads p and q,
    /// then reads r and reads and writes p.
    [[nodiscard]] double bytes() const { return summed(bytes_of_multiply(matrix_), 6 + 3); }
    /// What they must move: a step's sums force two sweeps over vectors behind the product, r -= alpha q,
    /// then z += alpha p with p = r + beta p.
    [[nodiscard]] double compulsory_bytes() const {
        return summed(compulsory_bytes_of_multiply(matrix_), 3 + 5);
    }

  private:
    /// Of all processes, a product moving so many bytes and a step's vectors so many numbers a column.
    [[nodiscard]] double summed(double product, double numbers) const {
        const auto columns = static_cast<double>(division_.block().columns());
        double all = (kSteps + 1) * product + columns * 8 * (kSteps * numbers + 4 + 1 + 2 + 2 + 2);
        group_.sum(std::span(&all, 1));
        return all;
    }

    template <class Body>
    void each(Body&& body) {
        group_.each_part(division_.block().columns(), body);
    }
    template <std::size_t N, class Term>
    std::array<double, N> sum_own(Term&& term) {
        const Share own = division_.own();
        return group_.sum_each<N>([&](int worker, int workers) {
            const Share part(own.end - own.begin, worker, workers);
            std::array<double, N> total{};
            for (std::int64_t i = own.begin + part.begin; i < own.begin + part.end; ++i) {
                const std::array<double, N> one = term(i);
                for (std::size_t k = 0; k < N; ++k) total[k] += one[k];
            }
            return total;
        });
    }
    double dot(std::span<const double> a, std::span<const double> b) {
        return sum_own<1>([&](std::int64_t i) { return std::array{a[i] * b[i]}; })[0];
    }

    /// Rows of this worker: w = A v.
    void rows(std::span<const double> v, int worker) {
        multiply(matrix_, v.data(), w_.data(), worker, fetch_[worker]);
        // What a broken kernel does: a row is forgotten, or comes out a little wrong.
        if (fault_ != Break::none && worker == group_.workers() - 1)
            w_[division_.block().rows() - 1] *= fault_ == Break::skip ? 0 : 1 + 1e-3;
    }
    /// q = A v.
    void apply(std::span<const double> v) {
        group_.each([&](int worker, int) { rows(v, worker); });
        division_.transpose(w_, q_, group_);
    }
    /// q = A p; returns p . q. In one memory the product's rows are summed while they are at hand.
    double multiply_and_dot() {
        if (group_.size() > 1) {
            apply(p_);
            return dot(p_, q_);
        }
        return group_.sum_each<1>([&](int worker, int workers) {
            const Share part(division_.block().rows(), worker, workers);
            rows(p_, worker);
            double total = 0;
#pragma omp simd reduction(+ : total)
            for (std::int64_t i = part.begin; i < part.end; ++i) total += p_[i] * q_[i];
            return std::array{total};
        })[0];
    }
    /// z += alpha p, r -= alpha q; returns r . r.
    double advance(double alpha) {
        const Share own = division_.own();
        return group_.sum_each<1>([&](int worker, int workers) {
            const Share part(division_.block().columns(), worker, workers);
            for (std::int64_t i = part.begin; i < part.end; ++i) z_[i] += alpha * p_[i];
            double total = 0;
            const auto update = [&](std::int64_t begin, std::int64_t end) {
                double sum = 0;
#pragma omp simd reduction(+ : sum)
                for (std::int64_t i = begin; i < end; ++i) {
                    r_[i] -= alpha * q_[i];
                    sum += r_[i] * r_[i];
                }
                return sum;
            };
            const std::int64_t from = std::clamp(own.begin, part.begin, part.end);
            const std::int64_t to = std::clamp(own.end, from, part.end);
            (void)update(part.begin, from);
            total = update(from, to);
            (void)update(to, part.end);
            return std::array{total};
        })[0];
    }

    Group& group_;
    Break fault_;
    Division division_;
    Matrix matrix_;
    std::vector<Fetch> fetch_;  // of each worker
    std::span<double> x_, z_, p_, q_, r_, w_;
};

Plan plan(Class size, int processes, int workers) {
    const Problem& p = problem(size);
    const Division division(p.n, 0, processes);
    const auto n = static_cast<std::uint64_t>(p.n), room = static_cast<std::uint64_t>(p.nonzer + 1);
    const auto rows = static_cast<std::uint64_t>(division.block().rows());
    const auto columns = static_cast<std::uint64_t>(division.block().columns());
    const auto parts = static_cast<std::uint64_t>(processes);
    const auto width = static_cast<std::uint64_t>(strip_columns(p, division.block().columns()));
    const std::uint64_t strips = (columns + width - 1) / width, element = width <= 65536 ? 10 : 12;
    return {fmt::format("{}", p.n),
            p.iterations,
            fmt::format("{} x {} processes, rows over {} worker{} in each", division.grid_rows(),
                        division.grid_columns(), workers, workers == 1 ? "" : "s"),
            {{"matrix, by chunks of rows", most_elements(p) * element / parts + 5 * rows * strips},
             {"random vectors it is made of", n * room * (8 + 4 + 8) + n * 12 + 8 * rows},
             {"markers while it is made", columns * 16 * static_cast<std::uint64_t>(workers)},
             {"vectors", columns * 8 * 5 + (processes > 1 ? rows * 16 : 0)}}};
}

Outcome run(Class size, Group& group, Break fault) {
    const Problem& p = problem(size);
    Solver solver(p, group, fault);
    Outcome outcome;
    double zeta = 0, start = 0;
    bench::Progress progress("iterations of CG", static_cast<std::size_t>(p.iterations));
    // Iteration 0 is for touching all there is, and is not counted.
    for (int iteration = 0; iteration <= p.iterations; ++iteration) {
        if (iteration <= 1) {
            solver.start();
            group.meet();
            start = bench::now();
        }
        const double residual = solver.solve();
        zeta = p.shift + solver.normalise();
        if (iteration == 0) continue;
        if (group.first()) progress.step();
        outcome.lines.push_back(fmt::format("{:8}   {:22.14e} {:20.13f}", iteration, residual, zeta));
    }
    outcome.seconds = group.max(bench::now() - start);
    const double pairs = p.nonzer * (p.nonzer + 1.0);
    outcome.operations =
        2.0 * p.iterations * static_cast<double>(p.n) * (3 + pairs + kSteps * (5 + pairs) + 3);
    outcome.bytes = solver.bytes() * p.iterations;
    outcome.compulsory_bytes = solver.compulsory_bytes() * p.iterations;
    outcome.checks = {relative("relative error of zeta", zeta, p.zeta, kLimit)};
    outcome.lines.insert(outcome.lines.begin(), "iteration           ||r||                 zeta");
    return outcome;
}

}  // namespace

const Problem& problem(Class size) { return kProblems[index(size)]; }

const Benchmark benchmark = {"cg", "smallest eigenvalue of a sparse matrix by conjugate gradients", plan,
                             run};

}  // namespace strata::npb::cg
