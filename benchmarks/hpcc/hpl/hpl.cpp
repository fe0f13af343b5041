// High-Performance Linpack: A x = b for a random matrix by LU factorization with partial pivoting, over all
// processes and threads (J. Dongarra, P. Luszczek, A. Petitet, The LINPACK Benchmark: past, present and
// future, Concurrency and Computation 15, 2003).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/common/together.hpp"
#include "benchmarks/hpcc/dgemm.hpp"
#include "benchmarks/hpcc/hpcc.hpp"
#include "benchmarks/hpcc/hpl/back_substitution.hpp"
#include "benchmarks/hpcc/hpl/factorization.hpp"
#include "benchmarks/hpcc/hpl/size.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"

namespace strata::bench::hpcc {
namespace {

using namespace linpack;

constexpr long kMostOrder = 100'000'000;
/// HPL's limit of the scaled residual.
constexpr double kLimit = 16.0;

void declare(Options& options) {
    options
        .option(
            "--n", "COUNT", "",
            "order of the matrix; without it 8000 (--quick 3000) times the cube root of the threads of all "
            "processes, or as much as fits")
        .flag("--full", "the order whose matrix takes 80 % of the memory that is available")
        .option("--nb", "COUNT", "256", "rows and columns of a block")
        .option("--grid", "PxQ", "", "rows x columns of processes; without it as near to a square as can be");
    declare_blas(options);
    options.example("strata bench hpl --layout 1x2", "one process of two threads")
        .example("strata bench hpl --layout 4x1 --n 20000", "four MPI processes, on a grid of 2 x 2")
        .example("strata bench hpl --layout 2x2 --model team",
                 "two processes that share memory, two threads each")
        .example("strata bench hpl --layout 1x8 --full", "as large as memory allows");
}

Grid grid_of(const Parsed& given, int processes, int rank) {
    int rows = static_cast<int>(std::sqrt(static_cast<double>(processes)));
    while (processes % rows != 0) --rows;
    int columns = processes / rows;
    if (const std::string text = given.text("--grid"); !text.empty()) {
        int used = 0;
        const bool read = std::sscanf(text.c_str(), "%6dx%6d%n", &rows, &columns, &used) == 2 &&
                          used == static_cast<int>(text.size());
        if (!read || rows < 1 || columns < 1 || rows * columns != processes)
            throw Error("the grid does not have as many places as there are processes")
                .given(fmt::format("--grid {}", text))
                .allowed(fmt::format("PxQ with P Q = {}", processes))
                .remedy("--layout says how many processes there are");
    }
    return Grid::of(rows, columns, rank);
}

/// What each process may take for itself, the same on all: its part of what its machine has, the smallest.
double available_to_each(Group& group) {
    return group.min(static_cast<double>(available_memory()) / group.here());
}

/// The order that is asked for, or follows from memory or from the time that it takes.
long order_of(Group& group, const Parsed& given, const Shape& shape, double available) {
    if (given.has("--n") && given.has("--full"))
        throw Error("the order is given, or follows from memory")
            .given("--n and --full")
            .allowed("one of them");
    if (given.has("--n")) return given.integer("--n", 1, kMostOrder);
    const long full = full_order(shape, available);
    if (given.has("--full")) return full;
    // So all take about the same time.
    const double cores = group.sum(static_cast<double>(thread_count()));
    const auto n = static_cast<long>((given.has("--quick") ? 3000 : 8000) * std::cbrt(cores));
    return std::min(full, std::max(1L, n / shape.block) * shape.block);
}

/// DGEMM is measured where each thread has as large a part as one alone has by default, or at the order of
/// the system where this is smaller.
long dgemm_order(const Shape& shape, bool quick) {
    const double order = (quick ? 1000 : 2000) * std::sqrt(static_cast<double>(thread_count()));
    return std::min(shape.n, static_cast<long>(order));
}

void refuse_what_does_not_fit(const Shape& shape, double available, bool quick) {
    const double order = static_cast<double>(dgemm_order(shape, quick));
    const double bytes = std::max(most_bytes_of(shape), 3 * 8 * order * order);
    if (bytes <= kMostOfMemory * available || available == 0) return;
    const auto size = [](double count) { return print_size(static_cast<std::uint64_t>(count)); };
    throw Error("HPL needs more memory than there is")
        .given(fmt::format("n = {}: {} a process", shape.n, size(bytes)))
        .allowed(
            fmt::format("{} a process, nine tenths of what is available", size(kMostOfMemory * available)))
        .remedy("a smaller --n, or --full for the largest");
}

/// One element of U, off by a thousandth.
void perturb(Equations& equations) {
    const Shape& shape = equations.shape();
    const long column = shape.n / 2;
    if (shape.rows().owner(0) == shape.rows().mine && shape.columns().owner(column) == shape.columns().mine)
        equations.row(0)[shape.columns().local(column)] *= 1.001;
}

/// Seconds that all processes took, and x, which all have then.
double solve(Group& group, const Blas& blas, const Shape& shape, Break fault, std::vector<double>& x) {
    Equations equations(shape);
    Factorization factorization(blas, equations, group.messages());
    Progress progress("hpl");
    if (group.rank() != 0) progress.hide();
    const double seconds = seconds_together(group, [&] {
        if (fault != Break::skip) factorization.run(progress);
        if (fault == Break::perturb) perturb(equations);
        x = back_substitution(equations, group.messages());
    });
    group.sum(std::span<double>(x));
    return seconds;
}

Result run(Group& group, const Parsed& given, Break fault) {
    Result result;
    const bool quick = given.has("--quick");
    Shape shape;
    shape.block = given.integer("--nb", 1, 4096);
    shape.grid = grid_of(given, group.size(), group.rank());
    const double available = available_to_each(group);
    shape.n = order_of(group, given, shape, available);
    refuse_what_does_not_fit(shape, available, quick);

    const Blas blas(choose_blas(group, given, result));
    const double dgemm = dgemm_rate(group, blas, dgemm_order(shape, quick), quick ? 2 : 4);
    std::vector<double> x;
    const double seconds = solve(group, blas, shape, fault, x);
    result.verification = {"|A x - b| / (eps (|A| |x| + |b|) n)", scaled_residual(group, shape, x), kLimit,
                           "HPL: scaled residual below 16"};
    result.blas = blas.used();
    result.parameter("n", std::int64_t{shape.n});
    result.parameter("nb", std::int64_t{shape.block});
    result.parameter("grid", fmt::format("{}x{}", shape.grid.rows, shape.grid.columns));
    const double n = static_cast<double>(shape.n), flops = (2.0 / 3.0 * n + 1.5) * n * n;
    const double rate = 1e-9 * flops / seconds;
    result.figures = {{"hpl", rate, "GF/s", true, {}, flops},
                      {"dgemm", dgemm, "GF/s", true, {}, {}},
                      {"share of DGEMM", 100 * rate / dgemm, "%", true, {}, {}},
                      {"time", seconds, "s", false, {}, {}}};
    result.notes.emplace_back(
        "2/3 n^3 + 3/2 n^2 operations over the time of factorization and back substitution; DGEMM is that of "
        "all processes and threads at once, just before.");
    return result;
}

}  // namespace

const Benchmark hpl = {"hpl", "a system of linear equations solved over all processes and threads (Linpack)",
                       declare, run};

}  // namespace strata::bench::hpcc
